"""
What one session has on disk: its files, whose they are, and the next number.

The disk is the authority. What a state store remembers only ever raises the next
number, and tells of sealed files that someone removed.

Source: docs/format.md, "A landed file, an open file".
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from collectord.adapter import Context, Source
from collectord.landing.chain import chain, last_landed, read_header
from collectord.landing.openfile import OpenFile
from collectord.landing.recovery import Recovered, Witness, recover_session
from collectord.landing.root import LandingRoot, stamp_of
from collectord.sessiondata import SCHEMA, Header
from collectord.sources import Anchor

__all__ = ["LandedFile", "LandedSession", "NextFile", "Resumed"]


class LandedFile(NamedTuple):
    """One file of a session, with whose records it holds."""

    path: Path
    seq: int
    adapter: str
    """The adapter's name, without its version."""
    src: str


class Resumed(NamedTuple):
    """An open file that goes on, with what was last stated in it."""

    file: OpenFile
    context: Context
    proven: bool


class NextFile(NamedTuple):
    """A file that is to be created."""

    header: Header
    path: Path
    create: Callable[[], OpenFile]


class LandedSession:
    """One session of a landing root, recovered and ready to be written to."""

    def __init__(
        self, root: LandingRoot, session: str, witness: Witness, *, known_seq: int
    ) -> None:
        """
        Recover the session.

        Args:
            root: The landing root.
            session: Its id.
            witness: Finds the sources of its open files.
            known_seq: The highest number that a store or journal remembers; 0 for none.

        Raises:
            LandedFileDiffers, OSError: See `recover_session`.
            NameRefused: The id cannot be a folder's name.
        """
        self.session = session
        self.is_broken = False
        """Set when a step failed: nothing more is written through this object."""
        self.folder = root.session_folder(session)
        self._root = root
        is_new = not self.folder.is_dir()
        recovered = [] if is_new else recover_session(root, self.folder, witness)
        self.recovered: list[Recovered] = recovered
        """What recovery left open; `take_open` takes them out."""
        self.files: list[LandedFile] = []
        highest = known_seq
        for name in [] if is_new else LandingRoot.files(self.folder):
            highest = max(highest, name.seq)
            header = read_header(name.path)
            if header is not None:
                self.files.append(
                    LandedFile(name.path, name.seq, header.adapter.partition("/")[0], header.src)
                )
        self.next_seq = highest + 1

    def take_open(self, adapter: str, src: str) -> tuple[list[OpenFile], Resumed | None]:
        """
        Take the open files of a source: (older ones, to be sealed; the newest, which goes on).

        More than one is left only by a crash between two files.
        """
        mine = [
            one
            for one in self.recovered
            if one.file.header.src == src and one.file.header.adapter.partition("/")[0] == adapter
        ]
        self.recovered = [one for one in self.recovered if one not in mine]
        if not mine:
            return [], None
        newest = mine[-1]
        return [one.file for one in mine[:-1]], Resumed(newest.file, newest.context, newest.proven)

    def files_of(self, adapter: str, src: str) -> list[LandedFile]:
        """Return the files of one source, oldest first."""
        return [file for file in self.files if file.src == src and file.adapter == adapter]

    def neighbours(self, source: Source) -> dict[str, list[LandedFile]]:
        """Return the files of other sources that land in the same folder and kind, by ``src``."""
        folder = self.folder_of(source)
        prefix = LandingRoot.open_name(source.kind, 0, "").partition("-")[0] + "-"
        found: dict[str, list[LandedFile]] = {}
        for file in self.files:
            if (
                file.path.parent == folder
                and file.path.name.startswith(prefix)
                and file.adapter == source.adapter
                and file.src != source.src
            ):
                found.setdefault(file.src, []).append(file)
        return found

    def folder_of(self, source: Source) -> Path:
        """Return where a source's files land. Raises `NameRefused`."""
        return self._root.folder(source.kind, source.session, source.stream, source.batch)

    def next_file(self, source: Source, *, adapter: str, dialect: str, now_ns: int) -> NextFile:
        """
        Take the next number for a cut of *source*, and say how its file is created.

        The caller creates the files of a session in the order in which it asked for them;
        when one cannot be created, this object is of no use any more: the disk has the
        numbers.

        Args:
            source: An identified source.
            adapter: Name and version, as the header states it.
            dialect: Name and version.
            now_ns: The time, in nanoseconds since the epoch.

        Raises:
            NameRefused: A name in it cannot be a path.
        """
        stamp = stamp_of(now_ns)
        header = Header(
            h=1,
            schema=SCHEMA,
            seq=self.next_seq,
            at=_at(stamp),
            kind=source.kind,
            adapter=adapter,
            dialect=dialect,
            src=source.src,
            session=source.session,
            stream=source.stream,
            batch=source.batch,
        )
        folder = self.folder_of(source)
        name = LandingRoot.open_name(source.kind, self.next_seq, stamp)
        create = partial(OpenFile.create, folder, name, header, self._root)
        path = folder / name
        self.files.append(LandedFile(path, self.next_seq, source.adapter, source.src))
        self.next_seq += 1
        return NextFile(header, path, create)

    def open(self, source: Source, *, adapter: str, dialect: str, now_ns: int) -> OpenFile:
        """
        Open the next cut of *source* at once; see `next_file`.

        Raises:
            NameRefused: A name in it cannot be a path.
            OSError: The file could not be created; the number stays free on disk.
        """
        return self.next_file(source, adapter=adapter, dialect=dialect, now_ns=now_ns).create()

    def sealed(self, open_path: Path, path: Path) -> None:
        """Note that the open file has its sealed name now."""
        self.files = [
            file._replace(path=path) if file.path == open_path else file for file in self.files
        ]

    @staticmethod
    def last_of(files: list[LandedFile]) -> tuple[LandedFile, Anchor] | None:
        """Return the newest of *files* that has a record, and its last record."""
        for file in reversed(files):
            anchor = last_landed(file.path)
            if anchor is not None:
                return file, anchor
        return None

    @staticmethod
    def chain_of(files: list[LandedFile]) -> Iterator[Anchor]:
        """Yield the place and digest of every record in *files*, in order of landing."""
        for file in files:
            for landed in chain(file.path):
                if landed.anchor is not None:
                    yield landed.anchor


def _at(stamp: str) -> str:
    """Return a name's stamp as RFC 3339."""
    day, _, time = stamp.partition("T")
    return f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}"
