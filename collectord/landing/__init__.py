"""Landing: a source's records into numbered files that survive a crash at every byte."""

from collectord.landing.chain import chain, last_landed, read_header
from collectord.landing.lineage import ends_of, holds, lineage, was_rewritten
from collectord.landing.openfile import OpenFile
from collectord.landing.recovery import Recovered, Testimony, Witness
from collectord.landing.root import PRIVATE, SHARED, LandedName, LandingRoot, Modes, parse_name
from collectord.landing.session import LandedFile, LandedSession, NextFile, Resumed

__all__ = [
    "PRIVATE",
    "SHARED",
    "LandedFile",
    "LandedName",
    "LandedSession",
    "LandingRoot",
    "Modes",
    "NextFile",
    "OpenFile",
    "Recovered",
    "Resumed",
    "Testimony",
    "Witness",
    "chain",
    "ends_of",
    "holds",
    "last_landed",
    "lineage",
    "parse_name",
    "read_header",
    "was_rewritten",
]
