"""
What `verify` can find, as values: a fault is something to act on, a note is not.

Source: docs/reading.md, "Verifying".
"""

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

__all__ = ["NOTES", "Finding", "FindingKind"]


class FindingKind(StrEnum):
    """What sort of thing was found."""

    HEADER = "header"
    """The first line is no valid header."""
    NAME = "name"
    """The file's name or folder says something else than its header."""
    RECORD = "record"
    """A line is no valid record."""
    ORDER = "order"
    """``ord`` does not rise within a file."""
    TORN = "torn"
    """A sealed file's last line does not end."""
    DIGEST = "digest"
    """The closing line states another digest or count than the file has."""
    GAP = "gap"
    """A number of the session is not there: its file was removed or lost."""
    TWICE = "twice"
    """A number of the session is there twice."""
    MODE = "mode"
    """The permissions are not those of a sealed, or of an open file."""
    UNREADABLE = "unreadable"
    """The file cannot be read."""

    WRITING = "writing"
    """Note: an open file ends in the middle of a line, or in its header."""
    SEALING = "sealing"
    """Note: an open file whose sealing began; recovery finishes it."""
    LEFTOVER = "leftover"
    """Note: a copy that a crash left behind; recovery removes it."""
    REMOVED = "removed"
    """Note: numbers that retention or a person took away, as the root records."""
    FOREIGN = "foreign"
    """Note: a name that is not ours, ignored by every reader."""


NOTES = frozenset(
    {
        FindingKind.WRITING,
        FindingKind.SEALING,
        FindingKind.LEFTOVER,
        FindingKind.REMOVED,
        FindingKind.FOREIGN,
    }
)
"""The kinds that are no faults."""


class Finding(NamedTuple):
    """One thing that was found, in a sentence."""

    kind: FindingKind
    path: Path
    text: str
    line: int = 0
    """From 1; 0: the whole file."""

    @property
    def is_fault(self) -> bool:
        """Whether there is something to act on."""
        return self.kind not in NOTES

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        return f"{place}: {self.text}"
