"""
The places and digests of the records in a landed or open file, without decoding them.

Our lines start with ``ord``, ``off``, ``sha`` and ``bytes``, so a few bytes of each are
enough; a line of another writer is decoded whole. Memory stays bounded on any line.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from collectord.errors import SessionDataError
from collectord.sessiondata import Header, decode_header, decode_record
from collectord.sources import Anchor

__all__ = ["Landed", "chain", "last_landed", "place_of", "read_header"]

_PLACE: Final = re.compile(
    rb'\{"ord":(\d{1,18})(?:,"off":(\d{1,18}))?,"sha":"([0-9a-f]{12,64})","bytes":(\d{1,18})[,}]'
)
_HEAD: Final = 512
_CHUNK: Final = 1 << 20


class Landed(NamedTuple):
    """One record's line in a file."""

    start: int
    stop: int
    """Byte after its newline."""
    anchor: Anchor | None
    """None: the line is not a record."""


def place_of(head: bytes) -> Anchor | None:
    """Return the place that a line's first bytes state."""
    matched = _PLACE.match(head)
    if matched is not None:
        return Anchor(int(matched[1]), int(matched[2] or 0), int(matched[4]), matched[3].decode())
    if not head.endswith(b"\n"):
        return None
    try:
        record = decode_record(head)
    except SessionDataError:
        return None
    if not (isinstance(record.ord, int) and isinstance(record.bytes, int) and record.sha):
        return None
    return Anchor(
        record.ord, record.off if isinstance(record.off, int) else 0, record.bytes, record.sha
    )


def read_header(path: Path) -> Header | None:
    """Return the header of *path*; None when its first line is not a whole one."""
    with path.open("rb") as stream:
        line = stream.readline(_CHUNK)
    if not line.endswith(b"\n"):
        return None
    try:
        return decode_header(line)
    except SessionDataError:
        return None


def chain(path: Path) -> Iterator[Landed]:
    """Yield every whole line after the header of *path*, in order."""
    with path.open("rb") as stream:
        at = len(stream.readline())
        while True:
            line = _head_of_line(stream)
            if line is None:
                return
            head, size = line
            yield Landed(at, at + size, place_of(head))
            at += size


def _head_of_line(stream: BinaryIO) -> tuple[bytes, int] | None:
    """Return (a line's first bytes, its size with the newline), None when it does not end."""
    head = stream.readline(_HEAD)
    size = len(head)
    last = head
    if not last.endswith(b"\n") and _PLACE.match(head) is None:
        head = last = head + stream.readline()
        size = len(head)
    while last and not last.endswith(b"\n"):
        last = stream.readline(_CHUNK)
        size += len(last)
    return (head, size) if last else None


def last_landed(path: Path) -> Anchor | None:
    """Return the place of the last record in *path*, reading from its end."""
    with path.open("rb") as stream:
        stop = stream.seek(0, 2)
        while stop > 0:
            start = _line_start(stream, stop)
            if start == 0:
                return None  # the header
            stream.seek(start)
            head = stream.read(min(_HEAD, stop - start))
            anchor = place_of(head)
            if anchor is None:
                stream.seek(start)
                anchor = place_of(stream.read(stop - start))
            if anchor is not None:
                return anchor
            stop = start
    return None


def _line_start(stream: BinaryIO, stop: int) -> int:
    """Return where the line that ends before *stop* starts."""
    end = stop - 1
    while end > 0:
        start = max(0, end - _CHUNK)
        stream.seek(start)
        newline = stream.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
