"""How long each line takes from an agent's file until it can be read where it lands."""

import json
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

LOOK_S = 0.002


class Line(NamedTuple):
    """A line of a source, by the end of its path and its number."""

    src: str
    ord: int


class Stopwatch:
    """Looks at both sides every two milliseconds, in a thread each, while the block runs."""

    def __init__(self, projects: Path, root: Path) -> None:
        self._projects = projects
        self._root = root
        self._stop = threading.Event()
        self.written: dict[Line, float] = {}
        self.landed: dict[Line, float] = {}
        self._threads = [
            threading.Thread(target=self._look, args=(look,))
            for look in (self._at_sources, self._at_landed)
        ]
        self._sources: dict[Path, tuple[int, int]] = {}
        self._landed: dict[Path, tuple[str, int]] = {}

    def latencies(self) -> list[float]:
        """Return the seconds of each line that was seen on both sides."""
        return [max(0.0, at - self.written[line]) for line, at in self.landed.items()]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _look(self, look: "object") -> None:
        assert callable(look)
        while not self._stop.wait(LOOK_S):
            look()
        look()

    def _at_sources(self) -> None:
        for path in self._projects.rglob("*.jsonl"):
            number, off = self._sources.get(path, (0, 0))
            data = whole_lines(path, off)
            src = path.relative_to(self._projects).as_posix()
            now = time.monotonic()
            for _ in range(data.count(b"\n")):
                number += 1
                self.written[Line(src, number)] = now
            self._sources[path] = (number, off + len(data))

    def _at_landed(self) -> None:
        for path in self._root.rglob("transcript-*.sd*"):
            name = path.with_name(path.name.removesuffix(".open"))
            src, off = self._landed.get(name, ("", 0))
            data = whole_lines(path, off)
            now = time.monotonic()
            for line in data.splitlines():
                if src:
                    self.landed.setdefault(Line(src, json.loads(line)["ord"]), now)
                else:
                    src = json.loads(line)["src"]
            self._landed[name] = (src, off + len(data))


def whole_lines(path: Path, off: int) -> bytes:
    """Return the whole lines from byte *off* on."""
    try:
        with path.open("rb") as stream:
            stream.seek(off)
            data = stream.read()
    except FileNotFoundError:  # sealed, or moved, since it was listed
        return b""
    return data[: data.rfind(b"\n") + 1]
