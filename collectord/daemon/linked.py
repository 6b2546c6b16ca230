"""
The folders behind symbolic links below the roots, each with a watcher of its own.

No system's events look behind a link, and an adapter locates a file by the link's name.
So a walk tells which links it went through, each folder is watched at its real place,
and what changes there is marked under the link. A link into a watched folder, or around
one, gets no watcher: what is there has a name and a watcher already. Past `MOST` of
them, where the system gives no events, and behind a link to a single file the usual
walks find what changed: a link to something huge must not make them more frequent.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import anyio
import structlog
from anyio import to_thread
from anyio.abc import TaskGroup
from structlog.typing import FilteringBoundLogger

from collectord.daemon.watched import Watched, begin_to_watch, inode_of
from collectord.watch import ChangedPaths

__all__ = ["MOST", "LinkedFolders"]

log: FilteringBoundLogger = structlog.get_logger()

MOST: Final = 64
"""How many linked folders are watched: each costs two threads."""


class _Target(NamedTuple):
    folder: Path
    inode: tuple[int, int]


class LinkedFolders:
    """Watches what symbolic links lead to, as long as they do."""

    def __init__(self, changed: ChangedPaths, method: str) -> None:
        """Mark in *changed*; *method* is the configuration's ``watch.method``."""
        self._changed = changed
        self._method = method
        self._watched: dict[Path, Watched] = {}
        self._turn = anyio.Lock()
        self._said_too_many = False

    async def follow(
        self,
        group: TaskGroup,
        links: Sequence[Path],
        roots: Collection[Path],
        *,
        below: Path | None = None,
    ) -> bool:
        """
        Watch what *links* lead to, and no longer what the others of them did.

        Returns whether a watcher began: what changed before it did must be looked for.

        Args:
            group: Where the watchers run.
            links: All that a walk went through.
            roots: The folders that are watched anyway.
            below: What was walked; None: everything.
        """
        known = [one for one in self._watched if below is None or one.is_relative_to(below)]
        if not links and not known:
            return False
        async with self._turn:
            targets = await to_thread.run_sync(_targets, links)
            for link in known:
                watched = self._watched.get(link)
                target = targets.get(link)
                if watched is not None and (target is None or target.inode != watched.inode):
                    self._watched.pop(link).scope.cancel()
            began = False
            for link, target in targets.items():
                if link not in self._watched and not self._is_covered(target.folder, roots):
                    if len(self._watched) >= MOST:
                        self._say_too_many()
                        break
                    self._watched[link] = await begin_to_watch(
                        group,
                        target.folder,
                        target.inode,
                        self._changed,
                        method=self._method,
                        name=link,
                    )
                    began = True
            return began

    def _is_covered(self, folder: Path, roots: Collection[Path]) -> bool:
        others = [*roots, *(watched.folder for watched in self._watched.values())]
        return any(folder.is_relative_to(one) or one.is_relative_to(folder) for one in others)

    def _say_too_many(self) -> None:
        if not self._said_too_many:
            self._said_too_many = True
            log.warning(
                "watch.degraded", reason=f"only {MOST} folders behind symbolic links are watched"
            )


def _targets(links: Sequence[Path]) -> dict[Path, _Target]:
    found: dict[Path, _Target] = {}
    for link in links:
        try:
            folder = link.resolve(strict=True)
        except (OSError, RuntimeError):  # gone, or a loop
            continue
        inode = inode_of(folder)
        if inode is not None:
            found[link] = _Target(folder, inode)
    return found
