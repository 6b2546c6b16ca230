"""
The lookout: which sources are to be visited.

Events mark paths; the pump turns them into sources. Events get lost on every platform,
so every root is walked at the start, on a timer, and when its watcher lost events; a
root whose events do not arrive at all is walked more often. A root that does not exist
yet is waited for; one that was replaced is watched anew; folders behind symbolic links
are watched beside them.
"""

import os
import time
from pathlib import Path
from typing import Final

import anyio
import structlog
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus
from structlog.typing import FilteringBoundLogger

from collectord.adapter import Source
from collectord.daemon.desk import Desk
from collectord.daemon.linked import LinkedFolders
from collectord.daemon.watched import Watched, begin_to_watch, inode_of
from collectord.errors import CollectordError
from collectord.pipeline import Assembly, Found, Lane, SourceQueue, discover
from collectord.watch import ChangedPaths, walk

__all__ = ["Lookout"]

log: FilteringBoundLogger = structlog.get_logger()

_Key = tuple[str, str]
MISSING_EVERY_S: Final = 10.0
"""How often it is looked whether a root has appeared that was missing."""

_WALKS: Final = 2
"""A walk that finds links is done again once they are watched; links behind those wait."""


class Lookout:
    """Finds changed sources and puts them into the queue."""

    def __init__(
        self, assembly: Assembly, changed: ChangedPaths, queue: SourceQueue, desk: Desk
    ) -> None:
        self._assembly = assembly
        self._changed = changed
        self._queue = queue
        self._desk = desk
        self._config = assembly.surroundings.config
        self._watched: dict[Path, Watched] = {}
        self._linked = LinkedFolders(changed, self._config.watch.method)
        self._group: TaskGroup | None = None
        self._seen: dict[_Key, Found] = {}

    async def pump_forever(self) -> None:
        """Turn marked paths into sources to visit; never returns."""
        while True:
            for path in await self._changed.take():
                source = self._assembly.roots.locate(path)
                if source is not None:
                    self._put(source)
                else:
                    await self._look_into(path)

    async def watch_forever(
        self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """
        Watch and walk every root; started once each is watched. Never returns.

        Raises:
            RootGone: The landing root was removed or replaced; this ends the daemon.
        """
        async with anyio.create_task_group() as group:
            self._group = group
            await self._watch_all(group)
            task_status.started()
            await self._walk_all()
            walked_at = time.monotonic()
            while True:
                await anyio.sleep(self._pause())
                await to_thread.run_sync(self._assembly.check_root)
                if not self._queue:
                    # Everything that the walk found was visited: what is left open is nobody's.
                    await self._desk.seal_orphans()
                await self._find_roots()
                fresh = await self._watch_all(group)
                due = time.monotonic() - walked_at >= self._config.watch.rescan_every_s
                if due or fresh or self._polls():
                    await self._walk_all()
                    walked_at = time.monotonic()

    def _pause(self) -> float:
        watch = self._config.watch
        if self._polls():
            return watch.poll_every_s
        return min(watch.rescan_every_s, MISSING_EVERY_S)

    def _polls(self) -> bool:
        return any(not one.native for one in self._watched.values())

    def _put(self, source: Source) -> None:
        settle = self._config.watch.settle_s
        if settle > 0:
            self._desk.later(source, settle)
        else:
            followed = self._desk.is_followed(source)
            self._queue.put(source, Lane.FOLLOWED if followed else Lane.NEW)

    async def _look_into(self, path: Path) -> None:
        """A folder came, went or was renamed: its files are found, and those that left it."""
        for source in self._desk.tracked_below(os.fspath(path)):
            self._queue.put(source, Lane.FOLLOWED)
        for _ in range(_WALKS):
            links: list[Path] = []
            files = await to_thread.run_sync(_files_below, path, links)
            if not await self._follow(links, below=path):
                break
        for found in files:
            source_below = self._assembly.roots.locate(found)
            if source_below is not None:
                self._put(source_below)

    async def _follow(self, links: list[Path], *, below: Path | None = None) -> bool:
        """Watch behind *links*; True: a watcher began, so what came before it is to be walked."""
        if self._group is None:
            return False
        return await self._linked.follow(self._group, links, self._watched, below=below)

    async def _find_roots(self) -> None:
        try:
            found = await to_thread.run_sync(self._assembly.surroundings.roots, self._assembly.root)
        except (OSError, CollectordError) as error:
            log.warning("watch.degraded", reason=str(error))
            return
        self._assembly.roots.replace(found)

    async def _watch_all(self, group: TaskGroup) -> bool:
        """Watch every root that is not watched as it is now; return whether there was one."""
        fresh = False
        for root in self._assembly.roots.all:
            for top in root.tops:
                folder = top if top.is_dir() else top.parent
                inode = inode_of(folder)
                known = self._watched.get(folder)
                if inode is None or (known is not None and known.inode == inode):
                    continue
                if known is not None:
                    known.scope.cancel()
                self._watched[folder] = await begin_to_watch(
                    group, folder, inode, self._changed, method=self._config.watch.method
                )
                fresh = True
        return fresh

    async def _walk_all(self) -> None:
        """Ask for a visit of every source whose figures changed since the last walk."""
        for _ in range(_WALKS):
            links: list[Path] = []
            found = await to_thread.run_sync(
                discover, self._assembly.roots, self._assembly.root, links.append
            )
            if not await self._follow(links):
                break
        for key, (source, stat) in found.items():
            known = self._seen.get(key)
            if known is None or known.stat != stat:
                self._queue.put(source, Lane.BACKFILL if known is None else Lane.NEW)
        for key, (source, _) in self._seen.items():
            if key not in found:
                self._queue.put(source, Lane.BACKFILL)
        self._seen = found


def _files_below(path: Path, links: list[Path]) -> list[Path]:
    """Return the files below a folder; none when *path* is none."""
    return [found for found, _ in walk(path, links.append)] if path.is_dir() else []
