"""
One performance: the daemon starts, the session is played, each record is seen to land.

`Performance.events` yields what a person is shown as it happens; afterwards `report`
compares every line that was written with every record in the sealed files, so what the
demo claims at its end was checked in this very run.
"""

import hashlib
import queue
import statistics
import threading
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Final, NamedTuple

from collectord.demo.background import Background, DaemonFailed
from collectord.demo.player import Half, Written, play
from collectord.demo.sample import Step, steps
from collectord.errors import CollectordError
from collectord.reading import Follow, Landed, sessions
from collectord.sessiondata import Line, open_sd

__all__ = ["Event", "File", "Half", "Performance", "Recorded", "Report", "Stopped"]

_LOOK_S: Final = 0.004
"""How often the landing root is looked at: what limits the figure that is measured."""

_PATIENCE_S: Final = 10.0
"""How long the last records may take to land."""


class Recorded(NamedTuple):
    """A record that can be read in the landing root."""

    landed: Landed
    at_s: float
    """Since the daemon was ready."""
    latency_s: float
    """From its last byte in the agent's file until it was read here."""


class Stopped(NamedTuple):
    """The daemon has sealed everything and ended."""

    seconds: float


Event = Half | Recorded | Stopped


class File(NamedTuple):
    """One sealed file."""

    path: Path
    """Below the landing root."""
    kind: str
    stream: str
    records: int
    bytes: int


class Report(NamedTuple):
    """What landed, and how fast."""

    session: str
    root: Path
    written: int
    missing: int
    twice: int
    files: tuple[File, ...]
    latencies_s: tuple[float, ...]
    sample: bytes
    """One record as it stands in its file, with a call in it."""
    seconds: float

    @property
    def records(self) -> int:
        """How many records the files hold."""
        return sum(file.records for file in self.files)

    @property
    def median_s(self) -> float:
        """The middle of the latencies."""
        return statistics.median(self.latencies_s)


class Performance:
    """The demo in *folder*: ``home`` is the agent's, ``sessions`` the landing root."""

    def __init__(self, folder: Path, *, speed: float) -> None:
        self.root = folder / "sessions"
        self.home = folder / "home"
        self._state_dir = folder / "state"
        self._log = folder / "daemon.log"
        self._speed = speed
        self._steps = steps()
        self._written: list[Written] = []
        self._latencies: list[float] = []
        self._seconds = 0.0

    def events(self) -> Generator[Event, None, None]:
        """
        Play the session; yield what happens.

        Raises:
            CollectordError: The daemon failed, or a record did not land.
            OSError: The folder cannot be written.
        """
        for step in self._steps:
            # The agent has been used before: its folder is there and is watched from the start.
            agent, projects, *_ = step.to.split("/")
            (self.home / agent / projects).mkdir(parents=True, exist_ok=True)
        with Background(self.home, self.root, self._state_dir, self._log) as daemon:
            daemon.wait_ready()
            began = time.monotonic()
            yield from self._played(daemon, began)
            stopping = time.monotonic()
            daemon.stop()
            self._seconds = time.monotonic() - began
            yield Stopped(time.monotonic() - stopping)

    def report(self) -> Report:
        """Compare what was written with what is in the sealed files."""
        wanted = Counter(_identity(each) for each in self._written)
        found: Counter[tuple[str, int, str]] = Counter()
        files = []
        samples: list[bytes] = []
        (session,) = sessions(self.root)
        for name in session.files:
            with open_sd(name.path) as file:
                header = file.header
                lines = list(file.lines())
            found.update(_landed_identity(header.src, line) for line in lines)
            raw = name.path.read_bytes()
            samples += [
                raw[line.start : line.stop].rstrip(b"\n")
                for line in lines
                if any(part.k == "call" for part in line.record.parts)
            ]
            files.append(
                File(
                    name.path.relative_to(self.root),
                    header.kind,
                    header.stream,
                    len(lines),
                    len(raw),
                )
            )
        return Report(
            session.id,
            self.root,
            len(self._written),
            sum((wanted - found).values()),
            sum((found - wanted).values()),
            tuple(files),
            tuple(self._latencies),
            min(samples, key=len),
            self._seconds,
        )

    def _played(self, daemon: Background, began: float) -> Generator[Event, None, None]:
        said: queue.SimpleQueue[Written | Half] = queue.SimpleQueue()
        stop = threading.Event()
        following = Follow(self.root, last=None)
        failures: list[BaseException] = []
        player = threading.Thread(
            target=_guarded, args=(self._steps, self.home, self._speed, stop, said, failures)
        )
        player.start()
        try:
            finished_at: float | None = None
            waiting: dict[tuple[str, int], Written] = {}
            early: list[tuple[Landed, float]] = []
            while len(self._latencies) < len(self._steps):
                # Read before the player is asked, so that no record overtakes its line.
                early += [(landed, time.monotonic()) for landed in following.poll()]
                while not said.empty():
                    told = said.get()
                    if isinstance(told, Half):
                        yield told
                        continue
                    self._written.append(told)
                    waiting[(told.to, told.ord)] = told
                for landed, seen_at in list(early):
                    written = _taken(waiting, landed)
                    if written is not None:
                        early.remove((landed, seen_at))
                        latency = max(0.0, seen_at - written.at_s)
                        self._latencies.append(latency)
                        yield Recorded(landed, seen_at - began, latency)
                if not player.is_alive():
                    finished_at = finished_at or time.monotonic()
                    self._check(daemon, failures, finished_at)
                time.sleep(_LOOK_S)
        finally:
            stop.set()
            player.join()

    def _check(self, daemon: Background, failures: list[BaseException], finished_at: float) -> None:
        if failures:
            raise failures[0]
        if not daemon.is_alive:
            daemon.stop()
        if time.monotonic() - finished_at > _PATIENCE_S:
            left = len(self._steps) - len(self._latencies)
            raise DaemonFailed(f"{left} of {len(self._steps)} records did not land in time")


def _guarded(
    steps_: list[Step],
    home: Path,
    speed: float,
    stop: threading.Event,
    said: "queue.SimpleQueue[Written | Half]",
    failures: list[BaseException],
) -> None:
    try:
        play(steps_, home, speed=speed, stop=stop, say=said.put)
    except (OSError, CollectordError) as error:
        failures.append(error)


def _taken(waiting: dict[tuple[str, int], Written], landed: Landed) -> Written | None:
    """Take out the line that *landed* was made from."""
    for key in waiting:
        if key[1] == landed.record.ord and key[0].endswith("/" + landed.header.src):
            return waiting.pop(key)
    return None


def _identity(written: Written) -> tuple[str, int, str]:
    name = written.to.rpartition("/")[2]
    return name, written.ord, hashlib.sha256(written.line).hexdigest()[:12]


def _landed_identity(src: str, line: Line) -> tuple[str, int, str]:
    assert isinstance(line.record.ord, int)
    return src.rpartition("/")[2], line.record.ord, line.record.sha[:12]
