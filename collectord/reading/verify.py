"""
Check every file of a root or a session, without the sources.

Sound against the daemon at work: a file may be sealed, begun or cut back between two
steps, so a number that seems to be missing is looked for a second time, and a torn last
line of an open file is a write in progress.

Source: docs/reading.md, "Verifying"; docs/format.md, "Layout of a landing root".
"""

import hashlib
import os
import stat
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import orjson

from collectord.errors import NameRefused, SessionDataError
from collectord.landing import PRIVATE, SHARED, LandedName, LandingRoot, parse_name
from collectord.reading.files import (
    RawLine,
    decode_line,
    landed_files,
    open_landed,
    raw_lines,
    session_folders,
)
from collectord.reading.finding import Finding, FindingKind
from collectord.reading.session import Session
from collectord.sessiondata import (
    Header,
    Kind,
    decode_end,
    decode_header,
    header_problems,
    record_problems,
)

__all__ = ["Digest", "Verification", "digest_of"]

_SEALED_MODES: Final = {PRIVATE.sealed, SHARED.sealed}
_OPEN_MODES: Final = {PRIVATE.open, SHARED.open}
_FOLDER_MODES: Final = {PRIVATE.folder, SHARED.folder}
_CHUNK: Final = 1 << 20


class Digest(NamedTuple):
    """One SHA-256 over all files of a session."""

    sha256: str
    files: int
    is_final: bool
    """Whether every file is sealed; else it changes as the session goes on."""


class Verification:
    """
    Verify one session's folder, or all below a root; iterate over it for the findings.

    Args:
        root: The landing root, or a shared directory.
        session_folder: Only this session.
        removed: The highest number that retention or a person took away, by session id.
    """

    def __init__(
        self,
        root: Path,
        session_folder: Path | None = None,
        *,
        removed: Mapping[str, int] | None = None,
    ) -> None:
        self._root = root
        self._only = session_folder
        self._removed = removed or {}
        self.sessions = 0
        self.files = 0
        self.records = 0
        self.bytes = 0
        self.faults = 0
        self.notes = 0

    def __iter__(self) -> Iterator[Finding]:
        folders = [self._only] if self._only else (f for _, f in session_folders(self._root))
        for folder in folders:
            self.sessions += 1
            for finding in self._readable(folder):
                if finding.is_fault:
                    self.faults += 1
                else:
                    self.notes += 1
                yield finding

    def _readable(self, folder: Path) -> Iterator[Finding]:
        try:
            yield from self._session(folder)
        except OSError as error:
            path = Path(os.fsdecode(error.filename)) if error.filename else folder
            yield Finding(FindingKind.UNREADABLE, path, f"cannot be read: {error.strerror}")

    def _session(self, folder: Path) -> Iterator[Finding]:
        yield from _names(folder)
        done: set[Path] = set()
        session = ""
        while True:
            names = [name for name in landed_files(folder) if name.sealed_path not in done]
            for name in names:
                done.add(name.sealed_path)
                header = yield from self._file(folder, name)
                session = session or (header.session if header else "")
            if not names:
                break  # listed again until nothing is new: a file may have been sealed meanwhile
        yield from self._numbers(folder, session)

    def _numbers(self, folder: Path, session: str) -> Iterator[Finding]:
        by_seq: dict[int, LandedName] = {}
        for name in landed_files(folder):
            other = by_seq.setdefault(name.seq, name)
            if other is not name:
                text = f"number {name.seq} is there twice: {other.path.name} has it, too"
                yield Finding(FindingKind.TWICE, name.path, text)
        taken = self._removed.get(session, 0)
        for start, stop in _missing(by_seq):
            which = f"number {start}" if start == stop else f"numbers {start} to {stop}"
            if stop <= taken:
                text = f"{which} taken away by retention or a person"
                yield Finding(FindingKind.REMOVED, folder, text)
            else:
                yield Finding(FindingKind.GAP, folder, f"{which} not there: removed or lost")

    def _file(self, folder: Path, name: LandedName) -> Generator[Finding, None, Header | None]:
        """Yield what is wrong with one file; return its header."""
        try:
            stream = open_landed(name)
        except FileNotFoundError:
            return None  # taken away since it was listed: then its number is missing
        except OSError as error:
            text = f"cannot be read: {error.strerror}"
            yield Finding(FindingKind.UNREADABLE, name.path, text)
            return None
        with stream:
            if name.is_open and not name.path.exists():
                name = name._replace(path=name.sealed_path, is_open=False)
            self.files += 1
            yield from _mode(name, os.fstat(stream.fileno()))
            yield from _both(name)
            return (yield from self._lines(folder, name, stream))

    def _lines(
        self, folder: Path, name: LandedName, stream: BinaryIO
    ) -> Generator[Finding, None, Header | None]:
        header: Header | None = None
        digest = hashlib.sha256()
        highest = records = stop = 0
        ended = False
        for line in raw_lines(stream, 0):
            stop = line.stop
            if line.number == 1:
                try:
                    header = decode_header(line.raw or b"")
                except SessionDataError as error:
                    yield Finding(FindingKind.HEADER, name.path, error.reason, 1)
                    break
                yield from _header(folder, name, header)
            elif ended:
                text = "something follows the closing line"
                yield Finding(FindingKind.RECORD, name.path, text, line.number)
                break
            elif line.raw is not None and (end := decode_end(line.raw)) is not None:
                ended = True
                if (end.records, end.digest) != (records, digest.hexdigest()):
                    text = (
                        f"the closing line states {end.records} records and {end.digest[:12]},"
                        f" the file has {records} and {digest.hexdigest()[:12]}"
                    )
                    yield Finding(FindingKind.DIGEST, name.path, text, line.number)
            else:
                records += 1
                ord_, problems = _record(stream, line, highest, str(name.path))
                highest = max(highest, ord_)
                for kind, text in problems:
                    yield Finding(kind, name.path, text, line.number)
            _feed(digest, stream, line)
        self.records += records
        size = os.fstat(stream.fileno()).st_size
        self.bytes += size
        yield from _end(name, header, stop, size)
        return header


def digest_of(session: Session) -> Digest:
    """
    Return one SHA-256 over all files of a session.

    It is that of the lines ``<seq> <kind> <sha256 of the file's bytes>\\n`` in order of seq.
    Of an open file the whole lines count, which are the bytes that it has once sealed.

    Raises:
        OSError: A file cannot be read.
    """
    whole = hashlib.sha256()
    files = 0
    is_final = True
    for name in landed_files(session.folder):
        digest = hashlib.sha256()
        kind = ""
        with open_landed(name) as stream:
            for line in raw_lines(stream, 0):
                if line.number == 1:
                    try:
                        kind = decode_header(line.raw or b"").kind
                    except SessionDataError:
                        kind = "unknown"
                _feed(digest, stream, line)
        if not kind and name.is_open:
            continue  # it holds nothing yet
        is_final = is_final and not name.is_open
        files += 1
        whole.update(f"{name.seq} {kind} {digest.hexdigest()}\n".encode())
    return Digest(whole.hexdigest(), files, is_final)


def _names(folder: Path) -> Iterator[Finding]:
    """Yield the names in a session's folder that are not a landed or open file's."""
    for above, folders, files in os.walk(folder):
        depth = len(Path(above).relative_to(folder).parts)
        if (
            os.name != "nt"
            and (mode := stat.S_IMODE(Path(above).stat().st_mode)) not in _FOLDER_MODES
        ):
            text = f"the folder's mode is {mode:04o}, wanted 0700 or 0750"
            yield Finding(FindingKind.MODE, Path(above), text)
        folders.sort()
        if depth == 0:
            strange = [name for name in folders if name not in _IN_SESSION]
        else:
            strange = folders[:] if depth == 2 or Path(above).name == "provider_body" else []
        for name in strange:
            folders.remove(name)
            yield Finding(FindingKind.FOREIGN, Path(above) / name, "not ours, ignored")
        for name in sorted(files):
            path = Path(above) / name
            if name.endswith(".sd.open.new") and parse_name(path.with_suffix("")) is not None:
                text = "a copy that a crash left behind; the daemon removes it when it starts"
                yield Finding(FindingKind.LEFTOVER, path, text)
            elif parse_name(path) is None:
                yield Finding(FindingKind.FOREIGN, path, "not ours, ignored")


_IN_SESSION: Final = {"streams", "runs", "provider_body"}


def _missing(by_seq: Mapping[int, LandedName]) -> Iterator[tuple[int, int]]:
    before = 0
    for seq in sorted(by_seq):
        if seq > before + 1:
            yield before + 1, seq - 1
        before = seq


def _mode(name: LandedName, found: os.stat_result) -> Iterator[Finding]:
    if os.name == "nt":
        return
    mode = stat.S_IMODE(found.st_mode)
    if not stat.S_ISREG(found.st_mode):
        yield Finding(FindingKind.MODE, name.path, "not a regular file")
    elif name.is_open and mode in _SEALED_MODES:
        text = "its sealing began and was not finished; the daemon does when it starts"
        yield Finding(FindingKind.SEALING, name.path, text)
    elif mode not in (_OPEN_MODES if name.is_open else _SEALED_MODES):
        wanted = "0600 or 0640" if name.is_open else "0400 or 0440"
        yield Finding(FindingKind.MODE, name.path, f"its mode is {mode:04o}, wanted {wanted}")


def _both(name: LandedName) -> Iterator[Finding]:
    """Yield a finding where a sealed file stands beside its open name."""
    if name.is_open:
        return
    beside = name.path.with_name(name.path.name + ".open")
    try:
        same = _sha256(beside) == _sha256(name.path)
    except OSError:
        return
    if same:
        text = "both names of a file that is being sealed; the daemon finishes it when it starts"
        yield Finding(FindingKind.SEALING, beside, text)
    else:
        text = f"number {name.seq} is there twice: {name.path.name} holds something else"
        yield Finding(FindingKind.TWICE, beside, text)


def _header(folder: Path, name: LandedName, header: Header) -> Iterator[Finding]:
    for problem in header_problems(header):
        yield Finding(FindingKind.HEADER, name.path, problem, 1)
    if header.seq != name.seq:
        text = f"the header's `seq` is {header.seq}, the name's {name.seq}"
        yield Finding(FindingKind.NAME, name.path, text, 1)
    try:
        kind = Kind(header.kind)
        prefix = LandingRoot.open_name(kind, 0, "").rpartition("--")[0]
    except (ValueError, KeyError):
        return  # the header's own problem
    if prefix != name.prefix:
        text = f"the header's `kind` is {header.kind}, the name begins with {name.prefix}"
        yield Finding(FindingKind.NAME, name.path, text, 1)
    try:
        wanted = LandingRoot(folder.parent).folder(
            kind, header.session, header.stream, header.batch
        )
    except NameRefused as error:
        yield Finding(FindingKind.NAME, name.path, str(error), 1)
        return
    if _place(wanted, folder) != _place(name.path.parent, folder):
        text = f"its header belongs into {wanted.relative_to(folder.parent)}"
        yield Finding(FindingKind.NAME, name.path, text, 1)


def _place(path: Path, session_folder: Path) -> tuple[str, ...]:
    """Return a folder's names below the root, without what tells case apart where it folds."""
    names = path.relative_to(session_folder.parent).parts
    return tuple(name.rpartition("~")[0] or name for name in names)


def _record(
    stream: BinaryIO, line: RawLine, highest: int, where: str
) -> tuple[int, list[tuple[FindingKind, str]]]:
    try:
        if line.raw is not None:
            orjson.loads(line.raw)  # as strict as any reader: UTF-8, numbers, nesting
        record = decode_line(stream, line, where=where).record
    except orjson.JSONDecodeError as error:
        return 0, [(FindingKind.RECORD, f"not strict JSON: {error}")]
    except SessionDataError as error:
        return 0, [(FindingKind.RECORD, error.reason)]
    found = [(FindingKind.RECORD, problem) for problem in record_problems(record)]
    ord_ = record.ord if isinstance(record.ord, int) else 0
    if 0 < ord_ <= highest:
        found.append((FindingKind.ORDER, f"`ord` is {ord_} after {highest}"))
    return ord_, found


def _end(name: LandedName, header: Header | None, stop: int, size: int) -> Iterator[Finding]:
    if name.is_open:
        if stop == 0:
            text = "the header is not whole yet: it holds nothing"
            yield Finding(FindingKind.WRITING, name.path, text)
        elif stop < size and header is not None:
            text = f"{size - stop} bytes of a line that does not end yet"
            yield Finding(FindingKind.WRITING, name.path, text)
    elif stop == 0:
        yield Finding(FindingKind.HEADER, name.path, "the header is not whole", 1)
    elif stop < size and header is not None:
        text = f"the last line does not end: {size - stop} bytes of it are there"
        yield Finding(FindingKind.TORN, name.path, text)


def _feed(digest: "hashlib._Hash", stream: BinaryIO, line: RawLine) -> None:
    if line.raw is not None:
        digest.update(line.raw)
        return
    stream.seek(line.start)
    left = line.stop - line.start
    while left > 0 and (block := stream.read(min(left, _CHUNK))):
        digest.update(block)
        left -= len(block)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
