"""Reading a landing root: sessions, their records in order, following, verifying; no state."""

from collectord.reading.cut import Landed, Problem
from collectord.reading.finding import Finding, FindingKind
from collectord.reading.follow import Follow
from collectord.reading.session import LATEST, Session, find_session, sessions
from collectord.reading.timeline import (
    Entry,
    Stream,
    as_landed,
    conversation,
    find_stream,
    landed_bytes,
    streams,
)
from collectord.reading.verify import Digest, Verification, digest_of

__all__ = [
    "LATEST",
    "Digest",
    "Entry",
    "Finding",
    "FindingKind",
    "Follow",
    "Landed",
    "Problem",
    "Session",
    "Stream",
    "Verification",
    "as_landed",
    "conversation",
    "digest_of",
    "find_session",
    "find_stream",
    "landed_bytes",
    "sessions",
    "streams",
]
