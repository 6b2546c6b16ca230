"""
A session as a person sees it, read from a landing root without any state.

Its id, adapter and dialect come from a header, never from a folder's name. What a list
needs stays cheap: names, one header, and the last lines of one file a session. The
label is looked for in the newest `LABEL_BYTES` of the main stream only; counting the
records reads every byte, and is done only when asked for.

Source: docs/reading.md, "A session".
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Final

from collectord.errors import CollectordError, NameRefused, NothingFound, SessionDataError
from collectord.landing import LandedName, LandingRoot
from collectord.reading.files import (
    bases,
    header_of,
    landed_files,
    last_lines,
    open_landed,
    raw_lines,
    session_folders,
)
from collectord.sessiondata import Header, Record, decode_end, decode_record

__all__ = ["LABEL_BYTES", "LATEST", "Session", "find_session", "moment", "session_at", "sessions"]

LATEST: Final = "latest"
"""Where a session is named: the one with the newest record."""

LABEL_BYTES: Final = 1 << 20
"""How much of the main stream's end is searched for a label."""

_HEAD_BYTES: Final = 1 << 18
"""How much of the main stream's beginning is read for its first time and first words."""

_HEAD_LINES: Final = 48
"""How many lines of it."""

_LAST_LINES: Final = 4
"""How many last records are asked for a time first: some kinds of record state none."""

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_SHOWN_CANDIDATES: Final = 8


class Session:
    """One session's folder, as it was when it was listed."""

    def __init__(
        self, owner: str, folder: Path, header: Header, files: tuple[LandedName, ...]
    ) -> None:
        self.owner = owner
        """Whose tree of a shared directory it is in; "" in a private root."""
        self.folder = folder
        self.header = header
        """Of the main stream's first file, else of the first file that has one."""
        self.files = files
        """In order of seq."""

    @property
    def id(self) -> str:
        """The session's id, as the runtime gave it."""
        return self.header.session

    @property
    def is_open(self) -> bool:
        """Whether one of its files may still grow."""
        return any(name.is_open for name in self.files)

    @property
    def streams(self) -> int:
        """How many streams have a transcript."""
        return len({n.path.parent for n in self.files if n.prefix == "transcript"})

    @property
    def runs(self) -> int:
        """How many workflow runs it has files of."""
        return len({n.path.parent for n in self.files if n.path.parent.parent.name == "runs"})

    @property
    def main(self) -> list[LandedName]:
        """The main stream's transcript; without one, every transcript."""
        transcripts = [name for name in self.files if name.prefix == "transcript"]
        return [name for name in transcripts if name.path.parent.name == "main"] or transcripts

    @cached_property
    def bytes(self) -> int:
        """The size of all its files."""
        total = 0
        for name in self.files:
            for path in (name.path, name.sealed_path):
                try:
                    total += path.stat().st_size
                    break
                except OSError:
                    continue
        return total

    @cached_property
    def first_time(self) -> str:
        """The time that the main stream's first records state, as written; "" without one."""
        return next((record.time for record in self._head if record.time), "")

    @cached_property
    def opening(self) -> str:
        """The first words that came from a person; "" when they are not near the beginning."""
        for record in self._head:
            if record.from_ == "external" and "injected" not in record.flags:
                for part in record.parts:
                    if part.k == "text" and part.text.strip():
                        return part.text.strip()
        return ""

    @cached_property
    def last_time(self) -> str:
        """The newest time that the last records of the main stream state, else of another."""
        main = self.main
        for name in (*main[::-1], *(name for name in self.files[::-1] if name not in main)):
            times = [record.time for record in _last_records(name) if record.time]
            if times:
                return max(times, key=lambda time: moment(time) or _LONG_AGO)
        return ""

    @cached_property
    def last_at(self) -> datetime:
        """When it was last active: its last time, else when its newest file was opened."""
        stated = moment(self.last_time)
        if stated is not None:
            return stated
        return max((_opened_at(name) for name in self.files), default=_LONG_AGO)

    @cached_property
    def label(self) -> str:
        """The last name that the runtime gave it, near the end of the main stream; else ""."""
        left = LABEL_BYTES
        for name in reversed(self.main):
            if left <= 0:
                break
            try:
                with open_landed(name) as stream:
                    size = stream.seek(0, 2)
                    start = max(0, size - left)
                    stream.seek(start)
                    block = stream.read(left)
            except OSError:
                continue
            left -= len(block)
            lines = block.split(b"\n")[1:-1]  # the header or half a line; a torn line
            for line in reversed(lines):
                if b'"label":"' in line and (found := _label(line)):
                    return found
        return ""

    def count_records(self) -> int:
        """Return how many records it has; reads every file once."""
        return sum(_records_in(name) for name in self.files)

    @cached_property
    def _head(self) -> list[Record]:
        for name in self.main or self.files:
            try:
                with open_landed(name) as stream:
                    block = stream.read(_HEAD_BYTES)
            except OSError:
                continue
            lines = block.split(b"\n", _HEAD_LINES)[1:-1]
            if lines:
                return list(_records(lines))
        return []


def session_at(owner: str, folder: Path) -> Session | None:
    """Return the session in *folder*; None when nothing in it can be read and has a header."""
    try:
        files = tuple(landed_files(folder))
    except OSError:
        return None  # one folder that cannot be read hides no other; verify names it
    main = [n for n in files if n.prefix == "transcript" and n.path.parent.name == "main"]
    for name in (*main, *files):
        header = header_of(name)
        if header is not None:
            return Session(owner, folder, header, files)
    return None


def sessions(root: Path) -> Iterator[Session]:
    """Yield every session below *root*, every owner's, in order of folder name."""
    for owner, folder in session_folders(root):
        session = session_at(owner, folder)
        if session is not None:
            yield session


def find_session(root: Path, wanted: str) -> Session:
    """
    Return the session that *wanted* names: an id, a unique prefix of one, or `LATEST`.

    In a shared directory ``OWNER/ID`` tells two owners' sessions apart.

    Raises:
        NothingFound: None or several match; the sentence names where was looked and what was met.
    """
    exact = _by_folder(root, wanted)
    if len(exact) == 1:
        return exact[0]
    found = list(sessions(root))
    if not found:
        raise NothingFound(f"no session {wanted!r}: nothing has landed in {root}")
    same = [one for one in found if wanted in (one.id, f"{one.owner}/{one.id}")]
    if not same and wanted == LATEST:
        return max(found, key=lambda one: one.last_at)
    begin = same or [
        one
        for one in found
        if wanted and (one.id.startswith(wanted) or _with_owner(one).startswith(wanted))
    ]
    if len(begin) == 1:
        return begin[0]
    if not begin:
        raise NothingFound(
            f"no session {wanted!r} among the {len(found)} in {root}"
            " (an id, the beginning of one, or 'latest')"
        )
    names = sorted(_with_owner(one) for one in begin)
    more = len(names) - _SHOWN_CANDIDATES
    shown = ", ".join(names[:_SHOWN_CANDIDATES]) + (f" and {more} more" if more > 0 else "")
    raise NothingFound(f"{len(names)} sessions in {root} begin with {wanted!r}: {shown}")


def moment(time: str) -> datetime | None:
    """Return a record's time as an aware datetime; None when it is none, or is not RFC 3339."""
    try:
        parsed = datetime.fromisoformat(time)
    except ValueError:
        return None
    return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)


def _with_owner(session: Session) -> str:
    return f"{session.owner}/{session.id}" if session.owner else session.id


def _by_folder(root: Path, wanted: str) -> list[Session]:
    """Find a full id without looking at the other sessions."""
    found = []
    for owner, base in bases(root):
        try:
            folder = LandingRoot(base).session_folder(wanted)
        except NameRefused:
            return []
        session = session_at(owner, folder)
        if session is not None and session.id == wanted:
            found.append(session)
    return found


def _opened_at(name: LandedName) -> datetime:
    stamp = name.stamp
    return datetime.strptime(stamp[:15], "%Y%m%dT%H%M%S").replace(
        tzinfo=UTC, microsecond=int(stamp[16:22])
    )


def _records(lines: list[bytes]) -> Iterator[Record]:
    for line in lines:
        try:
            record = decode_record(line)
        except SessionDataError:
            continue
        if record.parts:
            yield record


def _last_records(name: LandedName) -> list[Record]:
    """Return some of a file's last records; more of them where the last ones state no time."""
    try:
        with open_landed(name) as stream:
            for count in (_LAST_LINES, 16 * _LAST_LINES):
                lines = _block_at_end(stream, count)
                records = list(_records(lines))
                if any(record.time for record in records):
                    return records
    except OSError:
        return []
    return []


def _block_at_end(stream: BinaryIO, count: int) -> list[bytes]:
    tail = last_lines(stream, count)
    if not tail.lines:
        return []
    start = max(tail.lines[0][0], tail.end - LABEL_BYTES)
    stream.seek(start)
    return stream.read(tail.end - start).split(b"\n")


def _label(line: bytes) -> str:
    try:
        return decode_record(line).label
    except CollectordError:
        return ""


def _records_in(name: LandedName) -> int:
    count = 0
    last: bytes | None = b""
    try:
        with open_landed(name) as stream:
            for line in raw_lines(stream, 0):
                count += 1
                last = line.raw
    except OSError:
        return 0
    closing = 1 if last and decode_end(last) is not None else 0
    return max(0, count - 1 - closing)
