"""
The records of a session in order, as a reader wants them.

As landed: file by file in order of seq, every record. As a conversation: stream by
stream, and in a stream the *current view* of each source. A source that was rewritten
has several generations: a file whose first ``ord`` is not above the highest before.
Then the newest record of each ``ord`` counts, in order of ``ord``. How long the source
is today is not landed, so lines that a rewrite took away at the end stay in view.

Counting an ``id`` once is for display only: a copy of a file, and the repeats that some
runtimes write before a reset, hold the same record again; the first one wins.

Source: docs/format.md, "Sources"; docs/reading.md, "Order".
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from collectord.errors import NothingFound
from collectord.landing import LandedName, chain, last_landed
from collectord.reading.files import header_of, open_landed, raw_lines
from collectord.reading.session import Session
from collectord.sessiondata import Header, Line, Record, SdFile, decode_end

__all__ = [
    "Entry",
    "Stream",
    "as_landed",
    "conversation",
    "find_stream",
    "landed_bytes",
    "landed_line",
    "streams",
]


class Entry(NamedTuple):
    """One record with the file that it stands in."""

    header: Header
    line: Line
    path: Path

    @property
    def record(self) -> Record:
        """The record itself."""
        return self.line.record


class Stream(NamedTuple):
    """The files of one stream, in order of seq."""

    id: str
    """``main`` or a child's id."""
    files: tuple[tuple[LandedName, Header], ...]


def streams(session: Session) -> list[Stream]:
    """Return the streams that have a transcript, main first, then in order of appearance."""
    found: dict[str, list[tuple[LandedName, Header]]] = {}
    for name in session.files:
        if name.prefix != "transcript":
            continue
        header = header_of(name)
        if header is not None:
            found.setdefault(header.stream or "main", []).append((name, header))
    ordered = sorted(found, key=lambda stream: stream != "main")
    return [Stream(stream, tuple(found[stream])) for stream in ordered]


def find_stream(session: Session, wanted: str) -> Stream:
    """
    Return the stream that *wanted* names: an id, or a unique beginning of one.

    Raises:
        NothingFound: None or several match; the sentence names the streams that there are.
    """
    found = streams(session)
    begin = [one for one in found if one.id == wanted] or [
        one for one in found if one.id.startswith(wanted)
    ]
    if len(begin) == 1:
        return begin[0]
    names = ", ".join(one.id for one in begin or found)
    if begin:
        text = f"{len(begin)} streams of session {session.id} begin with {wanted!r}: {names}"
        raise NothingFound(text)
    raise NothingFound(
        f"session {session.id} has no stream {wanted!r}, but {names or 'no stream at all'}"
    )


def landed_bytes(session: Session, *, stream: str = "", headers: bool = False) -> Iterator[bytes]:
    """
    Yield the lines of a session as they stand in its files, in order of seq and place.

    A line too long to be held comes in several pieces. Closing lines are left out, and so
    are the headers unless they are asked for.
    """
    for name in session.files:
        header = header_of(name)
        if header is None or stream not in ("", header.stream):
            continue
        with open_landed(name) as file:
            for line in raw_lines(file, 0):
                if line.number == 1 and not headers:
                    continue
                if line.raw is None:
                    yield from pieces(file, line.start, line.stop)
                elif decode_end(line.raw) is None:
                    yield line.raw


def landed_line(path: Path, start: int, stop: int, raw: bytes | None) -> Iterator[bytes]:
    """Yield one line of a file, which may have been sealed meanwhile; *raw* where it was held."""
    if raw is not None:
        yield raw
        return
    there = path if path.exists() else path.with_name(path.name.removesuffix(".open"))
    with there.open("rb") as file:
        yield from pieces(file, start, stop)


def pieces(file: BinaryIO, start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes of a range of a file, at most a MiB at once."""
    file.seek(start)
    while start < stop and (block := file.read(min(stop - start, 1 << 20))):
        start += len(block)
        yield block


def as_landed(session: Session, *, stream: str = "") -> Iterator[Entry]:
    """
    Yield every record in order of seq and place, only those of *stream* when it is given.

    Raises:
        SessionDataError: A line is not a record.
    """
    for name in session.files:
        header = header_of(name)
        if header is not None and stream in ("", header.stream):
            yield from _entries(name, header)


def conversation(stream: Stream, *, once: bool = True) -> Iterator[Entry]:
    """
    Yield the current view of a stream; *once*: a repeated ``id`` only where it stands first.

    Raises:
        SessionDataError: A line is not a record.
    """
    seen: set[str] = set()
    for entry in _current(stream):
        identity = entry.record.id
        if once and identity:
            if identity in seen:
                continue
            seen.add(identity)
        yield entry


def _current(stream: Stream) -> Iterator[Entry]:
    sources: dict[tuple[str, str], list[tuple[LandedName, Header]]] = {}
    for name, header in stream.files:
        key = (header.adapter.partition("/")[0], header.src)
        sources.setdefault(key, []).append((name, header))
    for files in sources.values():
        if _was_rewritten(files):
            yield from _newest_of_each(files)
        else:
            for name, header in files:
                yield from _entries(name, header)


def _was_rewritten(files: list[tuple[LandedName, Header]]) -> bool:
    highest = 0
    for name, _ in files:
        first = next(_ords(name), None)
        last = last_landed(_there(name))
        if first is None or last is None:
            continue
        if first[0] <= highest:
            return True
        highest = last.ord
    return False


def _newest_of_each(files: list[tuple[LandedName, Header]]) -> Iterator[Entry]:
    places: dict[int, tuple[int, int]] = {}
    for index, (name, _) in enumerate(files):
        for ord_, start in _ords(name):
            places[ord_] = (index, start)
    for ord_ in sorted(places):
        index, start = places[ord_]
        name, header = files[index]
        yield next(_entries(name, header, start))


def _ords(name: LandedName) -> Iterator[tuple[int, int]]:
    for landed in chain(_there(name)):
        if landed.anchor is not None:
            yield landed.anchor.ord, landed.start


def _there(name: LandedName) -> Path:
    """Return the path that the file has now; a name is never taken back once it is sealed."""
    return name.path if not name.is_open or name.path.exists() else name.sealed_path


def _entries(name: LandedName, header: Header, start: int | None = None) -> Iterator[Entry]:
    with open_landed(name) as stream:
        sd = SdFile(stream, str(name.path))
        for line in sd.lines() if start is None else sd.lines(start, 0):
            yield Entry(header, line, name.path)
