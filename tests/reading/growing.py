"""A landing root that tests grow with the daemon's own means, one record at a time."""

import hashlib
import os
from pathlib import Path

from msgspec import UNSET, Raw

from collectord.adapter import Reader, Source
from collectord.landing import LandedSession, LandingRoot, OpenFile
from collectord.sessiondata import Header, Kind, Part, Record, encode

NOON_NS = 1_780_000_000_000_000_000


def no_witness(header: Header) -> None:
    """No source is there to vouch for an open file."""


def record(ord_: int, text: str = "", **fields: object) -> Record:
    """Return a record whose sha is that of its text, as if the text were the source's line."""
    said = text or f"line {ord_}"
    made = Record(
        ord=ord_,
        off=100 * ord_,
        sha=hashlib.sha256(f"{ord_} {said}".encode()).hexdigest()[:12],
        bytes=len(said.encode()),
        from_="agent",
        parts=[Part(k="text", text=said, state="available", bytes=len(said.encode()))],
    )
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def source(session: str = "s1", stream: str = "main", **fields: object) -> Source:
    """Return a hand-made source."""
    made = Source(
        "play-local",
        f"{session}-{stream}.jsonl",
        Path("/nowhere"),
        Kind.TRANSCRIPT,
        Reader.LINES,
        session,
        stream,
    )
    return made._replace(**fields)  # type: ignore[arg-type]


class Growing:
    """A root and its sessions, as one daemon has them."""

    def __init__(self, path: Path) -> None:
        self.root = LandingRoot(path)
        self.root.create()
        self.path.chmod(0o700)
        self.ticks = 0
        self._sessions: dict[str, LandedSession] = {}

    @property
    def path(self) -> Path:
        """The root's folder."""
        return self.root.path

    def folder(self, session: str = "s1") -> Path:
        """Return a session's folder."""
        return self.root.session_folder(session)

    def open(self, of: Source | None = None, **fields: object) -> OpenFile:
        """Open the next file of a source; open files of the session stay as they are."""
        chosen = of or source()
        if chosen.session not in self._sessions:
            self.recover(chosen.session)
        self.ticks += 1
        return self._sessions[chosen.session].open(
            chosen,
            adapter=str(fields.get("adapter", "play-local/0.1.0")),
            dialect="play/1",
            now_ns=NOON_NS + self.ticks,
        )

    def sealed(self, *records: Record, of: Source | None = None) -> Path:
        """Land *records* in a file of their own and return its path."""
        file = self.open(of)
        append(file, *records)
        path, _ = file.seal()
        return path

    def recover(self, session: str = "s1") -> list[OpenFile]:
        """Recover a session as a new daemon does, and return its open files."""
        found = LandedSession(self.root, session, no_witness, known_seq=0)
        self._sessions[session] = found
        return [one.file for one in found.recovered]


def append(file: OpenFile, *records: Record) -> None:
    """Append *records* in one batch."""
    file.append(b"".join(map(encode, records)), records=len(records))


def cut_to(path: Path, size: int) -> None:
    """Cut a file back, as a power cut leaves it; a sealed one, too."""
    mode = path.stat().st_mode
    path.chmod(0o600)
    os.truncate(path, size)
    path.chmod(mode)


def data_part(text: str) -> Part:
    """Return a part of structured data."""
    return Part(k="data", data=Raw(text.encode()) if text else UNSET, state="available", bytes=1)
