"""
One pass over every source, then done: what ``collectord collect`` runs.

Each source is read to its end and its cut sealed, so that the next pass opens nothing
that has not changed.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from collectord.adapter import Source
from collectord.errors import CollectordError
from collectord.pipeline.assembly import Assembly
from collectord.pipeline.collector import Collector
from collectord.pipeline.discovery import discover
from collectord.sources import STABLE_S

__all__ = ["Failure", "Summary", "collect_once"]

_COMMIT_EVERY: Final = 512
_MAX_WAIT_S: Final = 3.0
"""How long the pass waits in the end for documents that were being written."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not be collected, and why."""

    src: str
    reason: str


@dataclass(slots=True)
class Summary:
    """What a pass did."""

    sources: int = 0
    opened: int = 0
    records: int = 0
    bytes: int = 0
    """Source bytes read."""
    sessions: set[str] = field(default_factory=set)
    """Sessions that gained something."""
    pending: int = 0
    """Sources that end in a line without its newline."""
    unknown_members: int = 0
    failures: list[Failure] = field(default_factory=list)
    refused: list[Failure] = field(default_factory=list)
    seconds: float = 0.0


def collect_once(
    assembly: Assembly,
    *,
    final: bool = False,
    found: Callable[[int, int], None] = lambda _sources, _bytes: None,
    progress: Callable[[int, int], None] = lambda _sources, _bytes: None,
) -> Summary:
    """
    Collect everything there is and seal it.

    Args:
        assembly: The landing root and what is collected into it.
        final: The sources are finished: what follows a last newline is a record.
        found: Called once, with how many sources and bytes there are.
        progress: Called as they are done, with how many more of both.
    """
    started = time.monotonic()
    collector = assembly.collector
    summary = Summary()
    for error in collector.recover_open():
        summary.failures.append(Failure("", str(error)))
    sources = discover(assembly.roots, assembly.root)
    summary.sources = len(sources)
    found(len(sources), sum(stat.size for _, stat in sources.values()))
    waiting: list[Source] = []
    for number, (source, stat) in enumerate(sources.values(), 1):
        if _one(collector, source, summary, final=final):
            waiting.append(source)
        progress(1, stat.size)
        if number % _COMMIT_EVERY == 0:
            collector.cuts.commit()
    if waiting:
        time.sleep(min(_MAX_WAIT_S, STABLE_S))
        for source in waiting:
            _one(collector, source, summary, final=final)
    _finish(assembly, set(sources), summary)
    summary.seconds = time.monotonic() - started
    return summary


def _one(collector: Collector, source: Source, summary: Summary, *, final: bool) -> bool:
    """Read one source to its end; return whether it must be looked at again a little later."""
    try:
        more = True
        again = opened = False
        before = summary.records
        while more:
            outcome = collector.visit(source, final=final)
            more = outcome.more
            again = outcome.again_s > 0
            opened = opened or outcome.opened
            summary.records += outcome.records
            summary.bytes += outcome.bytes
            if outcome.note:
                summary.refused.append(Failure(source.src, outcome.note))
        collector.settled(source)
    except (OSError, CollectordError) as error:
        summary.failures.append(Failure(source.src, _reason(error)))
        _take_failures(collector, summary, error)
        return False
    if opened:
        summary.opened += 1
        row = collector.cuts.row(source.adapter, source.src)
        if row is not None and row.session:
            if summary.records > before:
                summary.sessions.add(row.session)
            summary.pending += row.pending_bytes > 0
    return again


def _finish(assembly: Assembly, seen: set[tuple[str, str]], summary: Summary) -> None:
    """Mark sources that are gone, seal what is left open, and tell the store."""
    collector = assembly.collector
    try:
        if not assembly.surroundings.paths:
            for row in list(assembly.store.sources()):
                path = assembly.roots.path_of(row.adapter, row.src)
                if not row.gone and row.key not in seen and path is not None:
                    source = assembly.roots.source_at(path)
                    if source is not None:
                        collector.visit(source)
        collector.cuts.seal_orphans()
    except (OSError, CollectordError) as error:
        summary.failures.append(Failure("", _reason(error)))
        _take_failures(collector, summary, error)
    for failed in collector.seal_all():
        summary.failures.append(Failure("", _reason(failed)))
    collector.cuts.commit()
    _take_failures(collector, summary)
    summary.unknown_members = collector.cuts.unknown_members


def _take_failures(
    collector: Collector, summary: Summary, told: BaseException | None = None
) -> None:
    """Add what failed while it was written to the summary, but for what is told already."""
    known = (told, told.__cause__ if told is not None else None)
    for session, error, _ in collector.cuts.take_failures():
        if error not in known:
            summary.failures.append(Failure("", f"session {session}: {_reason(error)}"))


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
