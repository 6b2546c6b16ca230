"""
One watchdog observer for one root: events to marked paths.

watchdog calls handlers while it holds its lock, and `Observer.stop` takes that lock: a
handler that waited for the loop could hang both. So a handler marks and returns, and
stopping happens in a thread, for a bounded time. Its own reads would make events too,
so only changes are asked for.
"""

import logging
import os
import warnings
from pathlib import Path
from typing import Any, Final

import anyio
import structlog
from anyio import to_thread
from anyio.abc import TaskStatus
from structlog.typing import FilteringBoundLogger
from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from collectord.watch.changes import ChangedPaths

__all__ = ["watch_root"]

log: FilteringBoundLogger = structlog.get_logger()

STOP_TIMEOUT_S: Final = 3.0

_CHANGES: Final[list[type[FileSystemEvent]]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]


class _Marker(FileSystemEventHandler):
    """Marks what changed below the watched folder, under the name that folder goes by."""

    def __init__(self, changed: ChangedPaths, root: Path, name: Path) -> None:
        self._changed = changed
        self._root = os.fspath(root)
        self._name = os.fspath(name)

    def on_any_event(self, event: FileSystemEvent) -> None:
        # An exception in a handler would end the observer for good.
        for path in (event.src_path, event.dest_path):
            if path:
                self._changed.mark(self._name + os.fsdecode(path).removeprefix(self._root))


class _OverflowNotice(logging.Handler):
    """watchdog tells of lost events on its logger only: the root is walked again then."""

    def __init__(self, root: Path, changed: ChangedPaths) -> None:
        super().__init__(logging.WARNING)
        self._root = root
        self._changed = changed

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower():
            log.warning("watch.overflow", root=str(self._root))
            self._changed.mark(os.fspath(self._root))


async def watch_root(
    root: Path,
    changed: ChangedPaths,
    *,
    name: Path | None = None,
    task_status: TaskStatus[bool] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """
    Mark what changes below *root* until cancelled.

    Reports whether it is watching, once it is: False says that the system refused, and
    that the root must be polled.

    Args:
        root: A folder; where a link leads to it, the folder itself.
        changed: Where paths are marked.
        name: What *root* is called in them, when that is a link to it.
        task_status: Told whether it is watching.
    """
    name = name or root
    # One such warning holds the repr of every watch, and as an error it ends the reader.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")
    observer: Any = Observer()
    notice = _OverflowNotice(name, changed)
    logging.getLogger("watchdog").addHandler(notice)
    try:
        marker = _Marker(changed, root, name)
        observer.schedule(marker, os.fspath(root), recursive=True, event_filter=_CHANGES)
        await to_thread.run_sync(observer.start)
    except OSError as error:
        logging.getLogger("watchdog").removeHandler(notice)
        log.warning("watch.degraded", root=str(name), reason=error.strerror or str(error))
        task_status.started(False)
        return
    log.info("watch.started", root=str(name))
    task_status.started(True)
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.move_on_after(STOP_TIMEOUT_S, shield=True) as scope:
            await to_thread.run_sync(observer.stop, abandon_on_cancel=True)
            await to_thread.run_sync(observer.join, abandon_on_cancel=True)
        logging.getLogger("watchdog").removeHandler(notice)
        log.info("watch.stopped", root=str(name), timed_out=scope.cancelled_caught)
