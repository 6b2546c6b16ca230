"""
Follow a session, or every session of a landing root, while it grows.

`Follow.poll` is one step without waiting: it yields what has become whole since the last
one. `Follow.run` repeats it with a bounded wait. Sessions that changed lately are looked
at in every step; of the others `COLD_STATS` folders and files a step, in turn, so a root
with thousands of sessions costs a fixed amount. No descriptor is held between steps.

Three things make a record come twice on disk: a file was replaced by a copy, it was cut
back after a power cut and went on, or it was sealed shorter than what was read of it and
its surplus landed again in a later file. A source's record is landed exactly once, so a
record whose (adapter, src, ord, sha) was yielded lately is dropped, and that is enough
for all three. What is remembered is bounded, and forgotten once its file is sealed.

Source: docs/format.md, "A landed file, an open file"; docs/reading.md, "Following".
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from collectord.landing import LandingRoot
from collectord.reading.cut import Cut, Landed, Problem, Recent, backlog
from collectord.reading.files import OWNER_FILE, landed_files

__all__ = ["COLD_STATS", "HOT_S", "HOT_SESSIONS", "INTERVAL_S", "Follow", "Landed", "Problem"]

INTERVAL_S: Final = 0.05
"""How long `Follow.run` waits when nothing has come."""

HOT_S: Final = 60.0
"""How long after a change a session is looked at in every step."""

HOT_SESSIONS: Final = 64
"""How many sessions are hot at most: those that changed last."""

COLD_STATS: Final = 256
"""How many folders and files of the other sessions are looked at in one step."""

_RACY_NS: Final = 3_000_000_000
"""A folder that changed this lately is listed again: its time may not show the next change."""


class Follow:
    """
    What lands below *root* from now on, only in *session_folder* when it is given.

    Args:
        root: A landing root, or a shared directory with several owners' roots.
        session_folder: A session's folder.
        last: How many of the newest records come first; None: everything that is there.
        problem: Called with each line of a sealed file that is no record, once.
        clock: Seconds, for how long a session stays hot.
    """

    def __init__(
        self,
        root: Path,
        session_folder: Path | None = None,
        *,
        last: int | None = 0,
        problem: Callable[[Problem], None] = lambda problem: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._root = root
        self._only = session_folder
        self._last = last
        self._problem = problem
        self._clock = clock
        self._folders: dict[Path, _Folder] = {}
        self._bases: dict[Path, _Seen] = {}
        self._cold: deque[_Folder] = deque()
        self._hot: dict[Path, _Folder] = {}
        self._started = False

    def run(self, stop: threading.Event, interval_s: float = INTERVAL_S) -> Iterator[Landed]:
        """Yield what lands until *stop* is set; it is asked between records, too."""
        while not stop.is_set():
            came = False
            for landed in self.poll():
                came = True
                yield landed
                if stop.is_set():
                    return
            if not came:
                stop.wait(interval_s)

    def poll(self) -> Iterator[Landed]:
        """Yield what has become whole since the last step, without waiting for more."""
        if not self._started:
            self._started = True
            yield from self._start()
            return
        self._find_sessions()
        now = self._clock()
        for folder in list(self._hot.values()):
            yield from self._step(folder, now)
        budget = COLD_STATS
        for _ in range(len(self._cold)):
            if budget <= 0:
                break
            folder = self._cold.popleft()
            budget -= folder.cost
            if folder.path in self._hot:  # it is looked at already
                folder.is_cold = False
                continue
            self._cold.append(folder)
            yield from self._step(folder, now)

    def _start(self) -> Iterator[Landed]:
        self._find_sessions()
        folders = list(self._folders.values())
        now, wall = self._clock(), time.time()
        for folder in folders:
            folder.look()
            if wall - folder.touched_at < HOT_S:
                self._warm(folder, now)
            else:
                self._cool(folder)
        if self._last is None:
            for folder in folders:
                yield from self._step(folder, now)
            return
        cuts = [cut for folder in folders for cut in folder.cuts.values()]
        places = backlog(cuts, self._last)
        for folder in folders:
            for cut in list(folder.cuts.values()):
                if not cut.name.is_open:
                    folder.drop(cut)
        for cut, start in places:
            yield from cut.line(start)

    def _step(self, folder: "_Folder", now: float) -> Iterator[Landed]:
        changed = folder.look()
        for cut in list(folder.cuts.values()):
            for landed in cut.read(self._problem):
                changed = True
                yield landed
            if cut.is_gone or cut.is_done:
                folder.drop(cut)
        if changed:
            self._warm(folder, now)
        elif folder.is_gone:
            self._hot.pop(folder.path, None)
            self._folders.pop(folder.path, None)
            if folder.is_cold:
                self._cold.remove(folder)
        elif now >= folder.hot_until and folder.path in self._hot:
            self._cool(folder)

    def _warm(self, folder: "_Folder", now: float) -> None:
        folder.hot_until = now + HOT_S
        self._hot.pop(folder.path, None)  # the last changed one stands last
        self._hot[folder.path] = folder
        while len(self._hot) > HOT_SESSIONS:
            self._cool(next(iter(self._hot.values())))

    def _cool(self, folder: "_Folder") -> None:
        self._hot.pop(folder.path, None)
        if not folder.is_cold:
            folder.is_cold = True
            self._cold.append(folder)

    def _find_sessions(self) -> None:
        if self._only is not None:
            if self._only not in self._folders:
                self._add(self._only)
            return
        self._find_in(self._root, owners=True)
        for base in list(self._bases):
            if base != self._root:
                self._find_in(base, owners=False)

    def _find_in(self, base: Path, *, owners: bool) -> None:
        seen = self._bases.setdefault(base, _Seen())
        if not seen.look(base):
            return
        try:
            folders = list(LandingRoot(base).sessions())
        except OSError:  # a share that is away for now
            return
        for folder in folders:
            if folder in self._folders or folder in self._bases:
                continue
            if owners and (folder / OWNER_FILE).is_file():
                self._bases[folder] = _Seen()
            else:
                self._add(folder)

    def _add(self, path: Path) -> None:
        folder = _Folder(path)
        self._folders[path] = folder
        self._warm(folder, self._clock())


class _Seen:
    """Whether a folder's list of names may have changed."""

    def __init__(self) -> None:
        self._mtime_ns = -1
        self._settled = False

    def look(self, folder: Path) -> bool:
        try:
            mtime_ns = os.stat(folder).st_mtime_ns  # noqa: PTH116 - most of what a step costs
        except OSError:
            changed, self._mtime_ns = self._mtime_ns != -1, -1
            return changed
        if mtime_ns == self._mtime_ns and self._settled:
            return False
        self._mtime_ns = mtime_ns
        self._settled = time.time_ns() - mtime_ns > _RACY_NS
        return True


class _Folder:
    """One session's folder: which of its files are being read, and which are done with."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cuts: dict[Path, Cut] = {}
        """By sealed path, in order of seq: open files, and sealed ones not read to the end."""
        self.hot_until = 0.0
        self.is_gone = False
        self.is_cold = False
        """Whether it waits for its turn among the cold ones."""
        self._seen: dict[Path, _Seen] = {path: _Seen()}
        self._done: set[Path] = set()
        self._recent: dict[tuple[str, str], Recent] = {}

    @property
    def cost(self) -> int:
        """How many calls one look takes."""
        return len(self._seen) + len(self.cuts)

    @property
    def touched_at(self) -> float:
        """When one of its open files changed last, in seconds since the epoch."""
        return max((cut.touched_at for cut in self.cuts.values()), default=0.0)

    def look(self) -> bool:
        """Find new files; return whether there are any."""
        changed = [seen.look(folder) for folder, seen in self._seen.items()]
        if not any(changed):
            return False
        try:
            return self._list()
        except OSError:  # a folder went away between two calls; the next look tells
            self._seen = {self.path: _Seen()}
            return False

    def _list(self) -> bool:
        folders = LandingRoot.folders(self.path)
        self.is_gone = not folders
        for folder in folders:
            if folder not in self._seen:
                self._seen[folder] = _Seen()
                self._seen[folder].look(folder)
        for folder in [f for f in self._seen if f != self.path and f not in folders]:
            del self._seen[folder]
        fresh = False
        for name in landed_files(self.path):
            if name.sealed_path not in self.cuts and name.sealed_path not in self._done:
                self.cuts[name.sealed_path] = Cut(name, self._recent)
                fresh = True
        if fresh:
            self.cuts = dict(sorted(self.cuts.items(), key=lambda item: item[1].name.seq))
        return fresh

    def drop(self, cut: Cut) -> None:
        """Forget a file that is read to its end for good, or gone."""
        del self.cuts[cut.name.sealed_path]
        if not cut.is_gone:
            self._done.add(cut.name.sealed_path)
