"""One folder being watched: by the system's events, or on a timer where none arrive."""

from pathlib import Path
from typing import NamedTuple

import anyio
import structlog
from anyio.abc import TaskGroup, TaskStatus
from structlog.typing import FilteringBoundLogger

from collectord.watch import ChangedPaths, is_remote, watch_root

__all__ = ["Watched", "begin_to_watch", "inode_of"]

log: FilteringBoundLogger = structlog.get_logger()


class Watched(NamedTuple):
    """A folder that is watched until its scope is cancelled."""

    folder: Path
    scope: anyio.CancelScope
    inode: tuple[int, int]
    native: bool
    """False: the system gives no events here, so it is walked on a shorter timer."""


def inode_of(folder: Path) -> tuple[int, int] | None:
    """Return (device, inode) of *folder*; None when it is not there."""
    try:
        now = folder.stat()
    except OSError:
        return None
    return now.st_dev, now.st_ino


async def begin_to_watch(
    group: TaskGroup,
    folder: Path,
    inode: tuple[int, int],
    changed: ChangedPaths,
    *,
    method: str,
    name: Path | None = None,
) -> Watched:
    """Watch *folder* in a task of *group*, what changes being marked below *name*."""
    scope = anyio.CancelScope()
    if method == "poll" or (method == "auto" and is_remote(folder)):
        log.info("watch.started", root=str(name or folder), method="poll")
        return Watched(folder, scope, inode, False)

    async def watch(*, task_status: TaskStatus[bool]) -> None:
        with scope:
            await watch_root(folder, changed, name=name, task_status=task_status)

    native: bool = await group.start(watch)
    return Watched(folder, scope, inode, native)
