"""
The landing root: every folder and every name in it.

::

    <root>/.collectord/                                    the lock; what cannot be re-derived
    <root>/<session>/streams/<stream>/transcript-<stamp>-<seq>.sd   and meta-…
    <root>/<session>/runs/<batch>/journal-…  manifest-…  script-…
    <root>/<session>/provider_body/provider_body-…

A name that comes from data never becomes a path unchecked: outside ``[A-Za-z0-9._-]``
it is percent-encoded, and what cannot be a name is refused.

Source: docs/format.md, "Layout of a landing root".
"""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from collectord.errors import LandingError, NameRefused
from collectord.landing.durable import fsync, fsync_folder, make_folders
from collectord.sessiondata import Kind

__all__ = ["OWN_FOLDER", "PRIVATE", "SHARED", "LandedName", "LandingRoot", "Modes", "stamp_of"]

OWN_FOLDER: Final = ".collectord"
"""What the daemon keeps for itself in a root."""

OPEN_SUFFIX: Final = ".open"
MAX_NAME_BYTES: Final = 200
_COMPONENTS: Final = 4096
"""How many names' encodings are remembered."""

_PREFIX: Final = {
    Kind.TRANSCRIPT: "transcript",
    Kind.AGENT_META: "meta",
    Kind.JOURNAL: "journal",
    Kind.WORKFLOW_MANIFEST: "manifest",
    Kind.WORKFLOW_SCRIPT: "script",
    Kind.PROVIDER_BODY: "provider_body",
}
_NAME: Final = re.compile(
    r"(?P<prefix>[a-z_]+)-(?P<stamp>\d{8}T\d{6}\.\d{9}Z)-(?P<seq>\d{6,})\.sd(?P<open>\.open)?"
)
_MIDDLE: Final = frozenset({"streams", "runs"})
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


class Modes(NamedTuple):
    """The permissions of what is created."""

    folder: int
    open: int
    sealed: int


PRIVATE: Final = Modes(0o700, 0o600, 0o400)
SHARED: Final = Modes(0o750, 0o640, 0o440)
"""In a directory that a team shares."""


class LandedName(NamedTuple):
    """A landed or open file, as far as its name tells."""

    path: Path
    prefix: str
    stamp: str
    seq: int
    is_open: bool

    @property
    def sealed_path(self) -> Path:
        """The path that the file has, or will have, once sealed."""
        return self.path.with_name(self.path.name.removesuffix(OPEN_SUFFIX))


class LandingRoot:
    """The directory that everything lands under."""

    def __init__(self, path: Path, modes: Modes = PRIVATE, *, durable: bool = True) -> None:
        self.path = path
        self.modes = modes
        self.durable = durable
        """False: session files are never synced, and a power cut may take or tear them."""
        self._folds_case: bool | None = None
        self._components: dict[tuple[str, str], str] = {}

    @property
    def own(self) -> Path:
        """The daemon's own folder in the root."""
        return self.path / OWN_FOLDER

    def create(self) -> str:
        """
        Make the root ready to be written to and return its id.

        The id is drawn when the root is first used, so that a root which was wiped and
        made again is not mistaken for the one that a state store remembers.

        Raises:
            LandingError: It cannot be created, or is something else than a directory.
        """
        try:
            make_folders(self.own, self.modes.folder)
            return self._root_id()
        except OSError as error:
            raise LandingError(
                self.path, f"cannot be used as landing root: {error.strerror}"
            ) from error

    def _root_id(self) -> str:
        path = self.own / "id"
        if path.exists():
            return path.read_text(encoding="ascii", errors="replace").strip()
        drawn = secrets.token_hex(8)
        fresh = self.own / "id.new"
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, self.modes.open)
        try:
            os.write(fd, drawn.encode() + b"\n")
            fsync(fd)
        finally:
            os.close(fd)
        fresh.rename(path)
        fsync_folder(self.own)
        return drawn

    def session_folder(self, session: str) -> Path:
        """Return the folder of *session*. Raises `NameRefused`."""
        return self.path / self._component("session", session)

    def folder(self, kind: Kind, session: str, stream: str, batch: str) -> Path:
        """Return the folder that a source's files land in. Raises `NameRefused`."""
        folder = self.session_folder(session)
        if kind in (Kind.TRANSCRIPT, Kind.AGENT_META):
            return folder / "streams" / self._component("stream", stream or "main")
        if kind == Kind.PROVIDER_BODY:
            return folder / "provider_body"
        return folder / "runs" / self._component("batch", batch)

    @staticmethod
    def open_name(kind: Kind, seq: int, at: str) -> str:
        """Return the name of a new open file."""
        return f"{_PREFIX[kind]}-{at}-{seq:06d}.sd{OPEN_SUFFIX}"

    def sessions(self) -> Iterator[Path]:
        """Yield the folder of each session, in order of name; none where there is no root."""
        try:
            entries = sorted(os.scandir(self.path), key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        for entry in entries:
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)

    @staticmethod
    def files(session_folder: Path) -> list[LandedName]:
        """Return a session's landed and open files in order of seq; names of others are ignored."""
        found = [
            parsed
            for folder in LandingRoot.folders(session_folder)
            for name in _listed(folder)
            if name.endswith((".sd", OPEN_SUFFIX))
            and (parsed := parse_name(folder / name)) is not None
        ]
        return sorted(found, key=lambda name: (name.seq, name.is_open))

    @staticmethod
    def first_open(session_folder: Path) -> Path | None:
        """Return an open file of a session; None when every one is sealed."""
        for folder in LandingRoot.folders(session_folder):
            for name in _listed(folder):
                if name.endswith(OPEN_SUFFIX) and parse_name(folder / name) is not None:
                    return folder / name
        return None

    @staticmethod
    def folders(session_folder: Path) -> list[Path]:
        """Return a session's folder and every folder in it that files may stand in."""
        found = [session_folder]
        try:
            upper = _folders_in(session_folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        for path in upper:
            if path.name in _MIDDLE:
                found.append(path)
                found += _folders_in(path)
            elif path.name == "provider_body":
                found.append(path)
        return found

    def _component(self, what: str, name: str) -> str:
        known = self._components.get((what, name))
        if known is None:
            if len(self._components) >= _COMPONENTS:
                self._components.clear()
            known = self._components[what, name] = self._encoded(what, name)
        return known

    def _encoded(self, what: str, name: str) -> str:
        if not name or name in (".", ".."):
            raise NameRefused(what, name, "not a name that a file can have")
        encoded = quote(name, safe="", errors="surrogatepass").replace("~", "%7E")
        if encoded.startswith(".") or _DEVICE.fullmatch(encoded):
            encoded = f"%{ord(encoded[0]):02X}{encoded[1:]}"
        if len(encoded) > MAX_NAME_BYTES:
            raise NameRefused(what, name, f"longer than {MAX_NAME_BYTES} bytes")
        if self._does_fold_case() and encoded != encoded.lower():
            # Equal but for case is one name here, and must stay two sessions.
            encoded += "~" + hashlib.sha256(encoded.encode()).hexdigest()[:4]
        return encoded

    def _does_fold_case(self) -> bool:
        if self._folds_case is None:
            self._folds_case = (self.path / OWN_FOLDER.upper()).exists()
        return self._folds_case


def parse_name(path: Path) -> LandedName | None:
    """Return what *path*'s name says, or None when it is not a name of ours."""
    matched = _NAME.fullmatch(path.name)
    if matched is None or matched["prefix"] not in _PREFIX.values():
        return None
    return LandedName(
        path, matched["prefix"], matched["stamp"], int(matched["seq"]), matched["open"] is not None
    )


def stamp_of(time_ns: int) -> str:
    """Return *time_ns* (since the epoch) as it stands in a name: ``20260831T091204.481523000Z``."""
    seconds, nanoseconds = divmod(time_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%dT%H%M%S}.{nanoseconds:09d}Z"


def _folders_in(folder: Path) -> list[Path]:
    """Return the real folders in *folder*; looking at each entry's type costs no further call."""
    with os.scandir(folder) as entries:
        return sorted(Path(e.path) for e in entries if e.is_dir(follow_symlinks=False))


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names only, without a Path each
    except FileNotFoundError:
        return []
