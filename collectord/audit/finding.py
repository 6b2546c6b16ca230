"""
What an audit can find, as values: a fault is something to act on, a note is not.

Source: docs/format.md, "Sources"; the floor below (`reading`) finds what is wrong with a
file by itself.
"""

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

__all__ = ["NOTES", "AuditFinding", "AuditKind"]


class AuditKind(StrEnum):
    """What sort of thing was found."""

    MISMATCH = "mismatch"
    """The source has other bytes where a record says that it came from."""
    PLACE = "place"
    """The record's bytes are in the source, at another offset or with another size."""
    MISSING = "missing"
    """A whole line of the source, before the last that landed, is in no landed record."""
    TWICE = "twice"
    """The same record (``ord`` and ``sha``) landed more than once."""
    ORDER = "order"
    """``ord`` does not rise within a file."""
    DIFFERS = "differs"
    """The record's conversion today is not what landed, by the same adapter and dialect."""
    ACCOUNT = "account"
    """The seven sums do not add up to the record's or the source's size."""
    UNREADABLE = "unreadable"
    """The source or a landed file cannot be read."""

    BEHIND = "behind"
    """Note: lines after the last that landed; the next pass collects them."""
    SHORTER = "shorter"
    """Note: records that landed and that the source no longer reaches."""
    REVERTED = "reverted"
    """Note: lines that were changed and changed back; they are not landed again."""
    MOVED = "moved"
    """Note: records that stand at another offset since the source was rewritten."""
    VERSION = "version"
    """Note: converted otherwise by another version of the adapter, so not compared."""
    UNPROVEN = "unproven"
    """Note: what was stated before these records is gone, so their conversion is not comparable."""
    UNIDENTIFIED = "unidentified"
    """Note: the source does not say which session it belongs to, so nothing of it lands."""


NOTES = frozenset(
    {
        AuditKind.BEHIND,
        AuditKind.SHORTER,
        AuditKind.REVERTED,
        AuditKind.MOVED,
        AuditKind.VERSION,
        AuditKind.UNPROVEN,
        AuditKind.UNIDENTIFIED,
    }
)
"""The kinds that are no faults."""


class AuditFinding(NamedTuple):
    """One thing that was found, in a sentence."""

    kind: AuditKind
    path: Path
    """The source, or the landed file that is wrong."""
    text: str
    ord: int = 0
    """The record; 0: the whole."""
    records: int = 1
    """How many records it is about."""

    @property
    def is_fault(self) -> bool:
        """Whether there is something to act on."""
        return self.kind not in NOTES

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"
