"""The way of a changed source: queue, read, convert, land."""

from collectord.pipeline.assembly import Assembly, Surroundings, assemble, landing_root
from collectord.pipeline.collector import Collector
from collectord.pipeline.discovery import Found, discover
from collectord.pipeline.onepass import Failure, Summary, collect_once
from collectord.pipeline.outcome import Outcome
from collectord.pipeline.queue import Lane, SourceQueue
from collectord.pipeline.roots import AdapterRoot, Roots, find_roots

__all__ = [
    "AdapterRoot",
    "Assembly",
    "Collector",
    "Failure",
    "Found",
    "Lane",
    "Outcome",
    "Roots",
    "SourceQueue",
    "Summary",
    "Surroundings",
    "assemble",
    "collect_once",
    "discover",
    "find_roots",
    "landing_root",
]
