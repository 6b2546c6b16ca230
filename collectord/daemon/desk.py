"""
The desk: the one place where sources are visited and files written.

Every blocking step runs in a worker thread, one at a time, and is never abandoned: a
cancellation waits for it. A source that fails is tried again later, each time a little
later; when the landing root cannot take bytes, everything waits: the sources are the
buffer.
"""

import errno
import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

import anyio
import structlog
from anyio import to_thread
from structlog.typing import FilteringBoundLogger

from collectord.adapter import Source
from collectord.errors import CollectordError
from collectord.pipeline import Assembly, Lane, SourceQueue

__all__ = ["Desk"]

log: FilteringBoundLogger = structlog.get_logger()

COMMIT_EVERY_S: Final = 1.0
"""How old what the state store knows may be; it is a cache."""

LEAST_PAUSE_S: Final = 0.5
"""How exact the times of a seal are."""

FIRST_RETRY_S: Final = 1.0
LAST_RETRY_S: Final = 60.0

_ROOT_IS_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
_Result = TypeVar("_Result")


class Desk:
    """Visits what the queue holds, and seals what falls due."""

    def __init__(self, assembly: Assembly, queue: SourceQueue) -> None:
        self._collector = assembly.collector
        self._check_root = assembly.check_root
        self._seal_after_age_s = assembly.surroundings.config.landing.seal_after_age_s
        self._queue = queue
        self._turn = anyio.Lock()
        self._due: dict[tuple[str, str], tuple[float, Source]] = {}
        self._due_changed = anyio.Event()
        self._delays: dict[tuple[str, str], float] = {}
        self._touched = anyio.Event()
        self._mend_delay_s = FIRST_RETRY_S

    async def recover(self) -> None:
        """Recover every session with an open file."""
        for error in await self._do(lambda: list(self._collector.recover_open())):
            log.error("source.failed", reason=str(error))

    def later(self, source: Source, seconds: float) -> None:
        """Visit *source* after *seconds*, unless it is visited before."""
        self._due[(source.adapter, source.src)] = (time.monotonic() + seconds, source)
        self._due_changed.set()

    def is_followed(self, source: Source) -> bool:
        """Return whether the newest cut of *source* is growing."""
        return (source.adapter, source.src) in self._collector.cuts.tracks

    def tracked_below(self, path: str) -> list[Source]:
        """Return the sources being collected whose path is *path* or below it."""
        prefix = path.rstrip("/") + "/"
        return [
            track.source
            for track in list(self._collector.cuts.tracks.values())
            if str(track.source.path).startswith(prefix)
        ]

    async def visit_forever(self) -> None:
        """Visit sources, live ones first; never returns. Raises `RootGone`."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._wake_due)
            while True:
                await self._visit(*await self._queue.take())

    async def seal_forever(self) -> None:
        """Seal cuts that are idle or old; never returns."""
        pause = 1.0
        while True:
            await anyio.sleep(pause)
            try:
                left = await self._do(partial(self._collector.seal_due, time.monotonic()))
                # A file that is opened meanwhile falls due no sooner than this.
                pause = max(LEAST_PAUSE_S, min(left, self._seal_after_age_s))
            except (OSError, CollectordError) as error:
                log.error("source.failed", reason=str(error))
                pause = FIRST_RETRY_S
            self._touched.set()

    async def commit_forever(self) -> None:
        """
        Tell the state store what happened, at most once a second; never returns.

        Raises:
            RootGone: The landing root was removed or replaced; this ends the daemon.
        """
        while True:
            await self._touched.wait()
            await anyio.sleep(COMMIT_EVERY_S)
            self._touched = anyio.Event()
            await self._do(self._check_root)
            await self._do(self._collector.cuts.commit)
            await self._mend()

    async def _mend(self) -> None:
        """Recover the sessions in which something could not be written, a little later."""
        failed = self._collector.cuts.take_failures()
        if not failed:
            self._mend_delay_s = FIRST_RETRY_S
            return
        for session, error, _ in failed:
            log.error("source.failed", session=session, reason=str(error))
        await anyio.sleep(self._mend_delay_s)
        self._mend_delay_s = min(self._mend_delay_s * 2, LAST_RETRY_S)
        await self.recover()
        for _, _, sources in failed:
            for source in sources:
                self._queue.put(source, Lane.NEW)
        self._touched.set()

    async def seal_orphans(self) -> None:
        """Seal what recovery left open of sources that are no longer there."""
        try:
            await self._do(self._collector.cuts.seal_orphans)
        except (OSError, CollectordError) as error:
            log.error("source.failed", reason=str(error))

    async def _visit(self, source: Source, lane: Lane) -> None:
        key = (source.adapter, source.src)
        visit = self._collector.visit if lane is not Lane.BACKFILL else self._collector.backfill
        try:
            outcome = await self._do(partial(visit, source))
        except (OSError, CollectordError) as error:
            await self._put_off(source, error)
            return
        self._delays.pop(key, None)
        if outcome.more:
            self._queue.put(source, lane)
        elif outcome.again_s > 0:
            self.later(source, outcome.again_s)
        if outcome.opened:
            self._touched.set()

    async def _put_off(self, source: Source, error: OSError | CollectordError) -> None:
        await self._do(self._check_root)
        key = (source.adapter, source.src)
        delay = min(self._delays.get(key, FIRST_RETRY_S / 2) * 2, LAST_RETRY_S)
        if key not in self._delays:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            log.warning("source.failed", src=source.src, reason=reason, retry_s=delay)
        self._delays[key] = delay
        self.later(source, delay)
        if isinstance(error, OSError) and error.errno in _ROOT_IS_FULL:
            await anyio.sleep(delay)

    async def _wake_due(self) -> None:
        """Move sources into the queue when their time has come."""
        while True:
            self._due_changed = anyio.Event()
            now = time.monotonic()
            for key, (at, source) in list(self._due.items()):
                if at <= now:
                    del self._due[key]
                    self._queue.put(source, Lane.NEW)
            left = min((at for at, _ in self._due.values()), default=None)
            if left is None:
                await self._due_changed.wait()
            else:
                with anyio.move_on_after(max(0.0, left - now)):
                    await self._due_changed.wait()

    async def _do(self, step: Callable[[], _Result]) -> _Result:
        """Run one blocking step in a worker thread, after the one before it."""
        async with self._turn:
            return await to_thread.run_sync(step)
