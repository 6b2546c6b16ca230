"""
One file that is being followed: how far it has been read, and what was yielded of it.

Only whole lines count. Before more is read, the bytes just before the place where
reading stopped are compared with what they were: where they differ, or the file became
shorter, it was replaced, and is read from its beginning again, without repeating a
record. A line of an open file that is no record waits: recovery will cut it off.

Source: docs/reading.md, "Following".
"""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from collectord.errors import SessionDataError
from collectord.landing import LandedName
from collectord.reading.files import RawLine, decode_line, last_lines, open_landed, raw_lines
from collectord.reading.session import moment
from collectord.sessiondata import LONG_LINE_BYTES, Header, Record, decode_end, decode_header

__all__ = ["RECENT_RECORDS", "Cut", "Landed", "Problem", "Recent", "backlog"]

RECENT_RECORDS: Final = 1 << 16
"""How many records of open files are remembered for one source."""

_CHECKED_BYTES: Final = 4096


class Landed(NamedTuple):
    """One record that has landed."""

    header: Header
    record: Record
    path: Path
    start: int
    stop: int
    """Byte after its newline."""
    raw: bytes | None
    """The line as it stands in the file; None for one too long to be held."""


class Problem(NamedTuple):
    """A line of a sealed file that is no record; reading went on after it."""

    path: Path
    reason: str


class Recent:
    """The records of one source that were yielded from files which may still be cut back."""

    def __init__(self) -> None:
        self._cuts: dict[tuple[int, str], Cut | None] = {}

    def is_new(self, ord_: int, sha: str, cut: "Cut") -> bool:
        """Remember a record of *cut*; return whether it was not yielded before."""
        key = (ord_, sha[:12])
        if key in self._cuts:
            self._cuts[key] = cut
            return False
        if len(self._cuts) >= RECENT_RECORDS:
            oldest = next(iter(self._cuts))
            holder = self._cuts.pop(oldest)
            if holder is not None:
                holder.floor = max(holder.floor, oldest[0])
        self._cuts[key] = cut
        return True

    def settle(self, cut: "Cut", last: int) -> None:
        """Forget the records of *cut* up to *last*, which are durable; the rest is surplus."""
        self._cuts = {
            key: None if holder is cut else holder
            for key, holder in self._cuts.items()
            if holder is not cut or key[0] > last
        }


class Cut:
    """One file, followed by its name from open to sealed."""

    def __init__(self, name: LandedName, recent: dict[tuple[str, str], Recent]) -> None:
        self.name = name
        self.is_done = False
        """It is sealed and was read to its end."""
        self.is_gone = False
        """It was removed."""
        self.floor = 0
        """Records of this file up to this ``ord`` were there at the start, or yielded long ago."""
        self._recents = recent
        self._recent: Recent | None = None
        self._header: Header | None = None
        self._at = 0
        self._searched = 0
        self._last = 0
        self._before = b""
        self._stat: tuple[int, ...] = ()

    @property
    def touched_at(self) -> float:
        """When the file changed last, in seconds since the epoch; 0 when it is gone."""
        try:
            return self.name.path.stat().st_mtime
        except OSError:
            return 0.0

    def skip(self, keep: int) -> list[tuple[datetime, int]]:
        """
        Start at the end of what is there; return (time, place) of its last *keep* records.

        A record that states no time has that of the one before, the first one its file's.
        """
        found: list[tuple[datetime, int]] = []
        try:
            with open_landed(self.name) as stream:
                self._header = _header(stream)
                if self._header is None:
                    return []
                tail = last_lines(stream, keep + 1)  # one may be a closing line
                self._at = self._searched = tail.end
                at = datetime.fromtimestamp(os.fstat(stream.fileno()).st_mtime, UTC)
                for start, stop in tail.lines:
                    record = _record(stream, start, stop)
                    if record is None:
                        continue
                    at = moment(record.time) or at
                    if isinstance(record.ord, int):
                        self.floor = self._last = record.ord
                    found.append((at, start))
                self._remember(stream)
        except OSError:
            return []
        return found[-keep:] if keep else []

    def line(self, start: int) -> Iterator[Landed]:
        """Yield the record at byte *start*, if there still is one."""
        try:
            with open_landed(self.name) as stream:
                header = _header(stream)
                line = next(raw_lines(stream, start, 0), None)
                if header is None or line is None:
                    return
                record = decode_line(stream, line, where=str(self.name.path)).record
        except (OSError, SessionDataError):
            return
        yield Landed(header, record, self.name.path, line.start, line.stop, line.raw)

    def read(self, problem: Callable[[Problem], None]) -> Iterator[Landed]:
        """Yield what has become whole since the last time."""
        try:
            stream, sealed = self._open()
        except FileNotFoundError:
            self.is_gone = True
            self._settle(-1)
            return
        except OSError:
            return  # a share that is away for now
        if stream is None:
            return
        with stream:
            stat = _signature(os.fstat(stream.fileno()))
            self._stat = ()
            if not self._is_as_it_was(stream, stat[2]):
                self._header, self._at, self._searched, self._last = None, 0, 0, 0
            try:
                for line in self._whole_lines(stream, stat[2]):
                    taken = self._take(stream, line, sealed, problem)
                    if taken is None:
                        break
                    self._at = self._searched = line.stop
                    yield from taken
            finally:
                self._remember(stream)
            self._stat = stat
            if sealed and self._header is not None and self._at >= stat[2]:
                self.is_done = True
                self._settle(self._last)

    def _open(self) -> tuple[BinaryIO | None, bool]:
        """Return (the file, or None when it has not changed; whether it is sealed)."""
        name = self.name
        try:
            if self._stat and _signature(name.path.stat()) == self._stat:
                return None, not name.is_open
            return name.path.open("rb"), not name.is_open
        except FileNotFoundError:
            if not name.is_open:
                raise
            stream = name.sealed_path.open("rb")
            self.name = name._replace(path=name.sealed_path, is_open=False)
            return stream, True

    def _is_as_it_was(self, stream: BinaryIO, size: int) -> bool:
        if size < self._at:
            return False
        stream.seek(self._at - len(self._before))
        return stream.read(len(self._before)) == self._before

    def _remember(self, stream: BinaryIO) -> None:
        start = max(0, self._at - _CHECKED_BYTES)
        stream.seek(start)
        self._before = stream.read(self._at - start)

    def _whole_lines(self, stream: BinaryIO, size: int) -> Iterator[RawLine]:
        """Yield the lines from where reading stopped, without searching a torn one twice."""
        if self._searched > self._at and not _has_newline(stream, self._searched):
            self._searched = max(self._searched, size)
            return
        yield from raw_lines(stream, self._at, 1 if self._at == 0 else 0)
        self._searched = max(self._at, size)

    def _take(
        self, stream: BinaryIO, line: RawLine, sealed: bool, problem: Callable[[Problem], None]
    ) -> list[Landed] | None:
        """Return the record of a line, if it is one that was not yielded; None: it must wait."""
        path = self.name.path
        try:
            if self._header is None:
                self._header = decode_header(line.raw or b"", where=str(path))
                return []
            if line.raw is not None and decode_end(line.raw) is not None:
                return []
            record = decode_line(stream, line, where=str(path)).record
        except SessionDataError as error:
            if not sealed:
                return None
            problem(Problem(path, error.reason))
            return []
        ord_ = record.ord if isinstance(record.ord, int) else 0
        self._last = max(self._last, ord_)
        if ord_ <= self.floor or not self._source().is_new(ord_, record.sha, self):
            return []
        return [Landed(self._header, record, path, line.start, line.stop, line.raw)]

    def _source(self) -> Recent:
        if self._recent is None:
            assert self._header is not None
            key = (self._header.adapter.partition("/")[0], self._header.src)
            self._recent = self._recents.setdefault(key, Recent())
        return self._recent

    def _settle(self, last: int) -> None:
        if self._recent is not None:
            self._recent.settle(self, last)


def _signature(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _has_newline(stream: BinaryIO, start: int) -> bool:
    stream.seek(start)
    while block := stream.read(1 << 20):
        if b"\n" in block:
            return True
    return False


def _header(stream: BinaryIO) -> Header | None:
    stream.seek(0)
    try:
        return decode_header(stream.readline(1 << 20))
    except SessionDataError:
        return None


def _record(stream: BinaryIO, start: int, stop: int) -> Record | None:
    try:
        line = RawLine(0, start, stop, None)
        if stop - start <= LONG_LINE_BYTES:
            stream.seek(start)
            line = line._replace(raw=stream.read(stop - start))
        record = decode_line(stream, line, where="").record
    except SessionDataError:
        return None
    return record if record.parts else None


def backlog(cuts: Sequence[Cut], last: int) -> list[tuple[Cut, int]]:
    """
    Start every file at its end; return where the *last* newest records of all stand.

    They are in the *last* files that were written to last: each of them is in a file
    that was not written to after it.
    """
    newest = sorted(cuts, key=lambda cut: (cut.touched_at, cut.name.seq))[-last:] if last else []
    chosen = {id(cut) for cut in newest}
    found: list[tuple[datetime, Cut, int]] = []
    for cut in newest:
        found += [(at, cut, start) for at, start in cut.skip(last)]
    for cut in cuts:
        if cut.name.is_open and id(cut) not in chosen:
            cut.skip(0)
    found.sort(key=lambda one: one[0])
    return [(cut, start) for _, cut, start in found[-last:]] if last else []
