"""
The daemon as it lives: a process of its own, with a home folder made for the test.

What landed is read as any reader would read it, from the files alone: whole lines of
``.sd`` and ``.sd.open``. What was written is computed from the source files.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

READY = "daemon.ready"


class Place(NamedTuple):
    """A record by its session and where it is in its source."""

    session: str
    stream: str
    ord: int
    off: int
    sha: str


class Home:
    """A person's home folder with Claude Code's in it, and where its sessions land."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "home"
        self.projects = self.folder / ".claude" / "projects"
        self.root = folder / "sessions"
        self.state = folder / "state"
        self.projects.mkdir(parents=True)

    def path(self, session: str, *, slug: str = "-work", child: str = "") -> Path:
        """Return the file of a session's main stream, or of one of its children."""
        main = self.projects / slug / f"{session}.jsonl"
        return main.with_suffix("") / "subagents" / f"agent-{child}.jsonl" if child else main

    def landed(self) -> Counter[Place]:
        """Return every record that can be read in the landing root."""
        found: Counter[Place] = Counter()
        for path in self.files():
            data = content(path)
            if b"\n" not in data:
                continue  # not even its header is whole
            header, *lines = data[: data.rfind(b"\n")].split(b"\n")
            about = json.loads(header)
            for line in lines:
                record = json.loads(line)
                found[
                    Place(
                        about["session"],
                        about["stream"],
                        record["ord"],
                        record["off"],
                        record["sha"],
                    )
                ] += 1
        return found

    def files(self, session: str = "") -> list[Path]:
        """Return the landed files (of one session), sealed or growing, each once."""
        top = self.root / session
        names = {*top.rglob("*.sd"), *top.rglob("*.sd.open")}
        return sorted(name for name in names if name.with_suffix("") not in names)

    def still_open(self) -> list[Path]:
        return sorted(self.root.rglob("*.open"))

    def written(self) -> Counter[Place]:
        """Return every whole line of the source files."""
        found: Counter[Place] = Counter()
        for path in self.projects.rglob("*.jsonl"):
            session, stream = path.stem, "main"
            if path.parent.name == "subagents":
                session, stream = path.parents[1].name, path.stem.removeprefix("agent-")
            data = path.read_bytes()
            off = 0
            for number, line in enumerate(data.split(b"\n")[:-1], start=1):
                sha = hashlib.sha256(line).hexdigest()[:12]
                found[Place(session, stream, number, off, sha)] += 1
                off += len(line) + 1
        return found


class Daemon:
    """A running ``collectord run``; leaving the block kills what is left of it."""

    def __init__(self, home: Home, *arguments: str, descriptors: int = 0, **settings: str) -> None:
        self.home = home
        self.log = home.root.parent / f"daemon-{time.monotonic_ns()}.log"
        environment = {
            "PATH": os.defpath,
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HOME": str(home.folder),
            "COLLECTORD_LOG__FORMAT": "json",
            **{f"COLLECTORD_{name}": value for name, value in settings.items()},
        }
        command = [sys.executable, "-m", "collectord", "run"]
        command += ["--root", str(home.root), "--state-dir", str(home.state), *arguments]
        if descriptors:
            command = ["/bin/sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *command]
        with self.log.open("wb") as stderr:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stderr=stderr, cwd=home.folder
            )

    def events(self) -> list[dict[str, Any]]:
        """Return what it has logged."""
        text = self.log.read_text("utf-8")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def ready(self) -> Self:
        """Wait until it watches."""
        until(lambda: READY in self.log.read_text("utf-8") or self.process.poll() is not None, 30)
        assert self.process.poll() is None, self.log.read_text("utf-8")
        return self

    def end(self, number: int) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(30)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)


def content(path: Path) -> bytes:
    """Return the bytes of a landed file, which may be sealed since it was listed."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return path.with_suffix("").read_bytes()


def until(holds: Callable[[], bool], patience_s: float = 20.0, *, every_s: float = 0.005) -> float:
    """Wait until *holds*, and return how long it took; fail after *patience_s*."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < patience_s, "it did not happen in time"
        time.sleep(every_s)
    return time.monotonic() - began


def record(number: int, *, width: int = 20) -> bytes:
    """Return a line as Claude Code writes one, without its newline."""
    return json.dumps(
        {
            "type": "user",
            "uuid": f"00000000-0000-4000-8000-{number:012x}",
            "timestamp": "2026-09-01T12:00:00.000Z",
            "message": {"role": "user", "content": f"{number} " + "ü" * width},
        },
        ensure_ascii=False,
    ).encode()


def append(path: Path, data: bytes) -> None:
    """Append to a file, in one write."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        assert os.write(fd, data) == len(data)
    finally:
        os.close(fd)
