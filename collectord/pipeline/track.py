"""
What is known in memory of one source that is being collected.

All of it can be derived from the disk again; nothing here is trusted over the disk, and
a track is thrown away whenever a step on the landing side fails.
"""

import os
from dataclasses import dataclass, field
from typing import Final

from collectord.adapter import NO_CONTEXT, Context, Source
from collectord.landing import LandedSession
from collectord.pipeline.writer import Cut
from collectord.sources import Anchor, Cursor, RawRecord, Stat, first_broken, pick_anchors

__all__ = ["Track"]

_LINKS: Final = 16
"""How many links of the chain's end are remembered, at least as many as a visit checks."""


@dataclass(slots=True, eq=False)
class Track:
    """One source: where reading goes on, what proves it, and the file that grows."""

    source: Source
    session: LandedSession
    fd: int
    """The source, open for reading; kept while its cut grows, so that a deletion loses nothing."""
    cursor: Cursor = field(default_factory=Cursor)
    unended: bool = False
    """Whether the cursor stands right after a record whose line ending is still to be skipped."""
    head: list[Anchor] = field(default_factory=list)
    """The first links of the chain."""
    tail: list[Anchor] = field(default_factory=list)
    """The last links before the cursor."""
    stat: Stat | None = None
    """The file's figures when it was last read to its end."""
    checked: Stat | None = None
    """The file's figures when its identity was last checked."""
    cut: Cut | None = None
    """The file that grows."""
    context: Context = field(default_factory=lambda: NO_CONTEXT)
    seen: dict[int, set[str]] | None = None
    """All (ord, sha) of a source that was rewritten: what is in it is not landed again."""
    last: Anchor | None = None
    """The last landed record."""
    last_seq: int = 0
    generation: int = 0
    pending_bytes: int = 0
    scanned_to: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """What names the source."""
        return (self.source.adapter, self.source.src)

    def read(self, raws: list[RawRecord], cursor: Cursor) -> None:
        """Note that *raws* are read (landed, or seen before) and reading goes on at *cursor*."""
        anchors = [Anchor.of(raw) for raw in raws[-_LINKS:]]
        if len(self.head) < _LINKS:
            self.head += [Anchor.of(raw) for raw in raws[: _LINKS - len(self.head)]]
        self.tail = (self.tail + anchors)[-_LINKS:]
        if cursor != self.cursor:
            self.cursor = cursor
            self.unended = False

    def is_broken(self) -> bool:
        """Return whether the file is no longer the one that was landed, by a look at both ends."""
        first = pick_anchors(self.head)[0]
        last = pick_anchors(self.tail)[1]
        return first_broken(self.fd, dict.fromkeys(first + last)) is not None

    def settle(self) -> bool:
        """
        Skip the line ending after the last record, once it is there.

        Returns False when other bytes stand there: the line was longer than what landed.
        """
        if not self.unended:
            return True
        ending = os.pread(self.fd, 2, self.cursor.off)
        if ending[:1] == b"\n":
            width = 1
        elif ending == b"\r\n":
            width = 2
        else:
            return ending in (b"", b"\r")
        self.cursor = Cursor(self.cursor.ord, self.cursor.off + width)
        self.unended = False
        return True

    def start_over(self, seen: dict[int, set[str]]) -> None:
        """Read the source from its first byte again; what is in *seen* is not landed again."""
        self.cursor = Cursor()
        self.unended = False
        self.head = []
        self.tail = []
        self.seen = seen
        self.scanned_to = 0

    def close(self) -> None:
        """Give the source's descriptor back."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
