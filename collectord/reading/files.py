"""
The files of a landing root as a reader meets them: while they grow, seal and are replaced.

A reader holds no lock, so between a listing and an open a name may change from
``….sd.open`` to ``….sd``, and for a moment both stand there. Lines are handed on as
bytes, so that one bad line is one finding and not the end of a file. Memory stays
bounded: the bytes of a line above `LONG_LINE_BYTES` are not held.

Source: docs/reading.md; docs/format.md, "Layout of a landing root".
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from collectord.errors import SessionDataError
from collectord.landing import LandedName, LandingRoot
from collectord.sessiondata import (
    LONG_LINE_BYTES,
    Header,
    Line,
    SdFile,
    decode_header,
    decode_record,
)

__all__ = [
    "OWNER_FILE",
    "RawLine",
    "Tail",
    "bases",
    "decode_line",
    "header_of",
    "landed_files",
    "last_lines",
    "open_landed",
    "raw_lines",
    "session_folders",
]

OWNER_FILE: Final = "owner.json"
"""Marks a folder of a shared directory as one owner's landing root."""

_CHUNK: Final = 1 << 20


class RawLine(NamedTuple):
    """One whole line and its place in the file."""

    number: int
    """From 1, the header; 0 where reading began in the middle."""
    start: int
    stop: int
    """Byte after its newline."""
    raw: bytes | None
    """With the newline; None for a line above `LONG_LINE_BYTES`."""


class Tail(NamedTuple):
    """The end of a file that may still grow."""

    lines: list[tuple[int, int]]
    """(start, stop) of the last lines that were asked for, oldest first, without the header."""
    end: int
    """Byte after the last newline; what follows is a write in progress."""


def bases(root: Path) -> list[tuple[str, Path]]:
    """Return (owner, folder) of each tree in *root*: its own under "", and each owner's."""
    owned = (f for f in LandingRoot(root).sessions() if (f / OWNER_FILE).is_file())
    return [("", root), *((folder.name, folder) for folder in owned)]


def session_folders(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield (owner, folder) of each session below *root*; the owner is "" in a private root."""
    for folder in LandingRoot(root).sessions():
        if os.path.exists(f"{folder}/{OWNER_FILE}"):  # noqa: PTH110 - ten times cheaper
            for session in LandingRoot(folder).sessions():
                yield folder.name, session
        else:
            yield "", folder


def landed_files(session_folder: Path) -> list[LandedName]:
    """Return a session's files in order of seq; of a file seen under both names the sealed one."""
    found: dict[Path, LandedName] = {}
    for name in LandingRoot.files(session_folder):
        found.setdefault(name.sealed_path, name)
    return list(found.values())


def open_landed(name: LandedName) -> BinaryIO:
    """
    Open a file for reading, under its sealed name when it has been sealed meanwhile.

    Raises:
        FileNotFoundError: It was removed.
        OSError: It cannot be read.
    """
    try:
        return name.path.open("rb")
    except FileNotFoundError:
        if not name.is_open:
            raise
        return name.sealed_path.open("rb")


def header_of(name: LandedName) -> Header | None:
    """Return a file's header; None when it has no whole one, or is gone."""
    try:
        with open_landed(name) as stream:
            line = stream.readline(_CHUNK)
    except OSError:
        return None
    if not line.endswith(b"\n"):
        return None
    try:
        return decode_header(line)
    except SessionDataError:
        return None


def raw_lines(stream: BinaryIO, start: int, number: int = 1) -> Iterator[RawLine]:
    """Yield the whole lines from byte *start* on; the caller may seek in between."""
    while True:
        stream.seek(start)
        pieces = [stream.readline(_CHUNK)]
        last = pieces[0]
        size = len(last)
        while last and not last.endswith(b"\n"):
            last = stream.readline(_CHUNK)
            size += len(last)
            if size <= LONG_LINE_BYTES:
                pieces.append(last)
            else:
                pieces.clear()
        if not last:
            return
        yield RawLine(number, start, start + size, b"".join(pieces) if pieces else None)
        start += size
        number += 1 if number else 0


def decode_line(stream: BinaryIO, line: RawLine, *, where: str) -> Line:
    """
    Return the record that *line* is, a long one with its data left in the file.

    Raises:
        SessionDataError: It is no record.
    """
    if line.raw is not None:
        record = decode_record(line.raw, where=where, number=line.number)
        return Line(line.number, line.start, line.stop, record)
    for found in SdFile(stream, where).lines(line.start, line.number):
        return found
    raise SessionDataError("the line is not whole", where=where, line=line.number)


def last_lines(stream: BinaryIO, count: int) -> Tail:
    """Return where the last *count* lines after the header stand, read from the end."""
    end = _newline_before(stream, stream.seek(0, os.SEEK_END)) + 1
    found: list[tuple[int, int]] = []
    stop = end
    while stop > 0 and len(found) < count:
        start = _newline_before(stream, stop - 1) + 1
        if start == 0:
            break  # the header
        found.append((start, stop))
        stop = start
    return Tail(found[::-1], end)


def _newline_before(stream: BinaryIO, stop: int) -> int:
    """Return where the last newline before byte *stop* stands, -1 when there is none."""
    size = 1 << 12
    while stop > 0:
        start = max(0, stop - size)
        stream.seek(start)
        place = stream.read(stop - start).rfind(b"\n")
        if place >= 0:
            return start + place
        stop = start
        size = min(size * 4, _CHUNK)
    return -1
