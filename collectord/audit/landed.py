"""
What has landed, by source: the files of each, and where each record stands in them.

Read from the files alone, so no state store is needed. Of a record only its place is
kept, two numbers each; its line is read again when its turn comes.

Source: docs/format.md, "Sources": the current view of a source is the newest record of
each ``ord``.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from collectord.audit.finding import AuditKind
from collectord.audit.sums import SourceAudit
from collectord.landing import LandedName, chain
from collectord.landing.chain import Landed, place_of
from collectord.reading.files import header_of, landed_files
from collectord.sessiondata import Header
from collectord.sources import Anchor

__all__ = ["Cut", "Index", "Key", "Place", "is_same", "landed_sources"]

Key = tuple[str, str]
"""(adapter, src): what names a source."""

_START_BITS: Final = 48
_HEAD: Final = 512
_CHUNK: Final = 1 << 20
_OPEN_FILES: Final = 8


class Cut(NamedTuple):
    """One landed or open file of a source."""

    name: LandedName
    header: Header

    @property
    def seq(self) -> int:
        """Its number in the session."""
        return self.name.seq

    @property
    def path(self) -> Path:
        """Where it is, also when it was sealed meanwhile."""
        sealed = self.name.sealed_path
        return sealed if self.name.is_open and not self.name.path.exists() else self.name.path


class Place(NamedTuple):
    """Where a record's line stands, and what it says of its source."""

    cut: int
    """Index of the file."""
    start: int
    anchor: Anchor


def landed_sources(session_folders: Iterable[Path]) -> dict[Key, list[Cut]]:
    """Return the files of each source, in the order in which they landed."""
    found: dict[Key, list[Cut]] = {}
    for folder in session_folders:
        for name in landed_files(folder):
            header = header_of(name)
            if header is not None:
                key = (header.adapter.partition("/")[0], header.src)
                found.setdefault(key, []).append(Cut(name, header))
    for cuts in found.values():
        if len({cut.header.session for cut in cuts}) > 1:
            # Numbers are a session's own; between two sessions only the time tells.
            cuts.sort(key=lambda cut: cut.name.stamp)
    return found


class Index:
    """Where the records of one source stand in its files."""

    def __init__(self, cuts: list[Cut], audit: SourceAudit, *, versions: bool = False) -> None:
        """
        Read the places of all records; what is wrong among them goes to *audit*.

        Args:
            cuts: The source's files, oldest first.
            audit: Takes the findings.
            versions: The source is a document: each record is a version of it, ``ord`` 1.
        """
        self.cuts = cuts
        self.highest = 0
        """The highest ``ord`` that landed."""
        self.is_rewritten = False
        """Whether a file starts at or below what landed before it: a new generation."""
        self.first_start: list[int] = []
        """Of each file, the byte after its header."""
        self._newest: dict[int, int] = {}
        self._older: dict[int, list[int]] = {}
        self._fds: dict[int, int] = {}
        for number, cut in enumerate(cuts):
            try:
                self._add(number, cut, audit, versions)
            except OSError as error:
                audit.find(AuditKind.UNREADABLE, _reason(error), path=cut.path)
                self.first_start.append(0)

    def places(self, ord_: int) -> Iterator[Place]:
        """Yield where the records with *ord_* stand, the newest first."""
        newest = self._newest.get(ord_)
        if newest is not None:
            yield self._place(newest)
            for packed in reversed(self._older.get(ord_, ())):
                yield self._place(packed)

    def visited(self, ord_: int) -> None:
        """Note that the source has a record with *ord_*."""
        self._newest.pop(ord_, None)

    @property
    def left(self) -> list[int]:
        """Every ``ord`` that was not visited, in order."""
        return sorted(self._newest)

    def compare(self, place: Place, pieces: Iterable[bytes]) -> tuple[bool, int]:
        """Return (whether the landed line is *pieces*, the byte after it)."""
        fd = self._fd(place.cut)
        at = place.start
        for piece in pieces:
            if os.pread(fd, len(piece), at) != piece:
                return False, self._line_stop(fd, place.start)
            at += len(piece)
        return True, at

    def close(self) -> None:
        """Give back what was opened."""
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()

    def _add(self, number: int, cut: Cut, audit: SourceAudit, versions: bool) -> None:
        highest = 0
        self.first_start.append(0)
        for position, link in enumerate(chain(cut.path)):
            if position == 0:
                self.first_start[number] = link.start
            if link.anchor is None:
                continue  # a closing line, or what `verify` says about the file
            ord_ = link.anchor.ord
            if ord_ <= highest:
                text = f"record {ord_} stands after record {highest}"
                audit.find(AuditKind.ORDER, text, ord=ord_, path=cut.path)
            elif not highest and ord_ <= self.highest:
                self.is_rewritten = True
            highest = max(highest, ord_)
            self._take(number, link, audit, versions)
        self.highest = max(self.highest, highest)

    def _take(self, number: int, link: Landed, audit: SourceAudit, versions: bool) -> None:
        assert link.anchor is not None
        ord_ = link.anchor.ord
        packed = number << _START_BITS | link.start
        known = list(self.places(ord_))
        for place in known[:1] if versions else known:
            if is_same(place.anchor.sha, link.anchor.sha):
                first = self.cuts[place.cut].path.name
                text = f"record {ord_} ({link.anchor.sha[:12]}) has landed in {first} already"
                audit.find(AuditKind.TWICE, text, ord=ord_, path=self.cuts[number].path)
                break
        if known:
            self._older.setdefault(ord_, []).append(self._newest[ord_])
        self._newest[ord_] = packed

    def _place(self, packed: int) -> Place:
        cut, start = packed >> _START_BITS, packed & ((1 << _START_BITS) - 1)
        fd = self._fd(cut)
        head = os.pread(fd, _HEAD, start)
        anchor = place_of(head)
        if anchor is None:
            anchor = place_of(os.pread(fd, self._line_stop(fd, start) - start, start))
        if anchor is None:
            raise OSError(0, "the landed file changed while it was read")
        return Place(cut, start, anchor)

    def _fd(self, number: int) -> int:
        fd = self._fds.get(number)
        if fd is None:
            if len(self._fds) >= _OPEN_FILES:
                os.close(self._fds.pop(next(iter(self._fds))))
            fd = os.open(self.cuts[number].path, os.O_RDONLY | os.O_CLOEXEC)
            self._fds[number] = fd
        return fd

    @staticmethod
    def _line_stop(fd: int, at: int) -> int:
        while chunk := os.pread(fd, _CHUNK, at):
            newline = chunk.find(b"\n")
            if newline >= 0:
                return at + newline + 1
            at += len(chunk)
        return at


def is_same(one: str, other: str) -> bool:
    """Whether two digests are of the same bytes; other writers give more digits."""
    return one.startswith(other) or other.startswith(one)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
