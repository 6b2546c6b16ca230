"""
Read a `.sd` or `.sd.open` file, a record at a time.

Memory does not grow with the file. A line has no length limit: one that is longer than
`LONG_LINE_BYTES` is not held, its content is given as a `Range` of the file. A growing
file is read up to its last whole line.

    with open_sd(path) as sd:
        print(sd.header.session)
        for record in sd:
            print(record.ord, [part.k for part in record.parts])
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, NamedTuple, Self

from msgspec import UNSET

from collectord.errors import SessionDataError
from collectord.sessiondata.codec import decode_end, decode_header, decode_record
from collectord.sessiondata.model import End, Header, Record

__all__ = ["LONG_LINE_BYTES", "Line", "Range", "SdFile", "open_sd"]

LONG_LINE_BYTES: Final = 48 << 20
"""A longer line is read in pieces: above the size of any record that is parsed."""

_CHUNK: Final = 1 << 20
_SHELL: Final = 64 << 10
"""How much may stand before and after a long part's data for it to be left in the file."""
_DATA_KEY: Final = b'"data":"'
_INSIDE: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


class Range(NamedTuple):
    """Where a long part's data stands in the file: the JSON string's inside, as escaped."""

    start: int
    stop: int


class Line(NamedTuple):
    """One record with its place in the file."""

    number: int
    """Line number in the file, from 1 (the header)."""
    start: int
    """Byte where the line starts."""
    stop: int
    """Byte after its newline."""
    record: Record
    data_range: Range | None = None
    """Set on a long record: its one part's ``data``, UNSET here, is this range of the file."""


class _Scanned(NamedTuple):
    head: bytes
    """The whole line; of a long one its first chunk."""
    stop: int
    ended: bool
    """Whether its newline is there."""


class SdFile:
    """A `.sd` or `.sd.open` file, opened for reading; iterate over it for its records."""

    def __init__(self, stream: BinaryIO, where: str) -> None:
        self._stream = stream
        self._where = where
        self._end_at = 0
        self._records = 0
        self.end: End | None = None
        """The closing line, once iteration has met one."""
        self.torn_bytes = 0
        """After iteration: the bytes after the last newline, a write in progress."""
        first = self._scan(0)
        if not first.ended:
            raise SessionDataError("the header is not a whole line", where=where, line=1)
        self.header: Header = decode_header(first.head, where=where)
        self.header_bytes = first.stop

    @property
    def is_open(self) -> bool:
        """Whether the file may still grow, by its name."""
        return self._where.endswith(".open")

    def __iter__(self) -> Iterator[Record]:
        for line in self.lines():
            yield line.record

    def lines(self, start: int | None = None, number: int = 2) -> Iterator[Line]:
        """
        Yield the records from byte *start* on (default: the first), with their places.

        Raises:
            SessionDataError: A line is not a record, or something follows a closing line.
        """
        at = self.header_bytes if start is None else start
        self.end, self.torn_bytes, self._records = None, 0, 0
        while True:
            head, stop, ended = self._scan(at)
            if self.end is not None and head:
                raise SessionDataError(
                    "something follows the closing line", where=self._where, line=number
                )
            if not ended:
                self.torn_bytes = stop - at
                return
            if stop - at > len(head):
                yield self._long_line(at, stop, number)
            else:
                self.end, self._end_at = decode_end(head), at
                if self.end is None:
                    yield Line(number, at, stop, self._record(head, number))
            self._records += self.end is None
            at, number = stop, number + 1

    def check_digest(self) -> bool | None:
        """Return whether the closing line's digest and count are right; None without such a line."""
        for _ in self.lines():
            pass
        if self.end is None:
            return None
        size = self._end_at
        digest = hashlib.sha256()
        self._stream.seek(0)
        while size > 0:
            chunk = self._stream.read(min(size, _CHUNK))
            if not chunk:
                return False
            digest.update(chunk)
            size -= len(chunk)
        return digest.hexdigest() == self.end.digest and self._records == self.end.records

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _record(self, line: bytes, number: int) -> Record:
        record = decode_record(line, where=self._where, number=number)
        if record.ord is UNSET:
            raise SessionDataError(
                "neither a record nor a closing line: no `ord`", where=self._where, line=number
            )
        return record

    def _scan(self, at: int) -> _Scanned:
        """Find the line that starts at *at*; a long one's bytes are not kept beyond its head."""
        self._stream.seek(at)
        kept = [self._stream.readline(_CHUNK)]
        size = len(kept[0])
        last = kept[0]
        while last and not last.endswith(b"\n"):
            last = self._stream.readline(_CHUNK)
            size += len(last)
            if size <= LONG_LINE_BYTES:
                kept.append(last)
            else:
                del kept[1:]
        return _Scanned(b"".join(kept), at + size, last.endswith(b"\n"))

    def _long_line(self, start: int, stop: int, number: int) -> Line:
        """Return the record of a long line with its data left in the file, or read it whole."""
        self._stream.seek(start)
        head = self._stream.read(min(_SHELL, stop - start))
        opening = head.find(_DATA_KEY) + len(_DATA_KEY)
        if opening >= len(_DATA_KEY):
            closing = self._string_end(start + opening, stop)
            if stop - closing <= _SHELL:
                self._stream.seek(closing)
                shell = head[:opening] + b"0" + self._stream.read(stop - closing)
                record = self._record(shell, number)
                part = record.parts[0] if len(record.parts) == 1 else None
                # Another member may be called "data": only a part's own has the place kept.
                if part and part.data is not UNSET and bytes(part.data) == b'"0"':
                    part.data = UNSET
                    return Line(number, start, stop, record, Range(start + opening, closing))
        self._stream.seek(start)
        return Line(number, start, stop, self._record(self._stream.read(stop - start), number))

    def _string_end(self, at: int, stop: int) -> int:
        """Return where the JSON string that is open at *at* has its closing quote; else *stop*."""
        self._stream.seek(at)
        escape = b""
        while at < stop:
            read = self._stream.read(min(_CHUNK, stop - at))
            if not read:
                break
            chunk = escape + read
            found = _INSIDE.match(chunk)
            end = found.end() if found else 0
            if chunk[end : end + 1] == b'"':
                return at - len(escape) + end
            at += len(read)
            escape = chunk[end:]  # a backslash whose second half is in the next chunk
        return stop


def open_sd(path: Path | str) -> SdFile:
    """
    Open a landed or growing file.

    Raises:
        SessionDataError: Its first line is not an sd/1 header.
        OSError: It cannot be opened.
    """
    stream = Path(path).open("rb")  # noqa: SIM115 - SdFile closes it
    try:
        return SdFile(stream, str(path))
    except BaseException:
        stream.close()
        raise
