"""
Paths waiting to be looked at, from any thread to the event loop.

A set, not a queue of events: memory is bounded by the number of files, and a storm
costs one entry. A watcher's handler runs while its observer holds a lock, so marking
never waits for anything.
"""

import asyncio
import contextlib
import threading
from pathlib import Path

__all__ = ["ChangedPaths"]


class ChangedPaths:
    """Paths that changed, each at most once, in order of arrival."""

    def __init__(self) -> None:
        """Belong to the running event loop."""
        self._lock = threading.Lock()
        self._paths: dict[str, None] = {}
        self._arrived = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def mark(self, path: str) -> None:
        """Note that *path* changed. Any thread may call this; it never waits."""
        with self._lock:
            is_first = not self._paths
            self._paths[path] = None
        if is_first:
            # A closed loop refuses the call. Nothing is lost: the next start walks the roots.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._arrived.set)

    async def take(self) -> list[Path]:
        """Wait until something changed, and return all of it."""
        await self._arrived.wait()
        with self._lock:
            self._arrived.clear()
            paths, self._paths = self._paths, {}
        return [Path(path) for path in paths]
