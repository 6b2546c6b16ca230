"""
Collect as sessions happen, until a signal says stop.

One task group holds everything: a watcher for each root, the walk on a timer, the pump
from marked paths to the queue, one desk that visits sources (in a worker thread that a
cancellation waits for, so a landing is never cut in half), and the seals that fall due.

Source: docs/decisions/0002-one-writer-thread.md.
"""

import signal
import time

import anyio
import structlog
from structlog.typing import FilteringBoundLogger

from collectord import __version__
from collectord.daemon.desk import Desk
from collectord.daemon.lookout import Lookout
from collectord.pipeline import Assembly, SourceQueue, Surroundings, assemble
from collectord.watch import ChangedPaths

__all__ = ["run"]

log: FilteringBoundLogger = structlog.get_logger()


def run(surroundings: Surroundings) -> None:
    """
    Collect until SIGTERM or SIGINT, then seal what is open.

    Raises:
        RootBusy, LandingError, StateError, NothingFound, ConfigError: See `assemble`.
        RootGone: The landing root was removed or replaced (also in an exception group);
            nothing was sealed, because what is there now belongs to somebody else.
    """
    started = time.monotonic()
    with assemble(surroundings) as assembly:
        log.info("daemon.started", version=__version__, root=str(assembly.root.path))
        anyio.run(_serve, assembly, started)
        assembly.check_root()
        for error in assembly.collector.seal_all():
            log.error("source.failed", reason=str(error))
        assembly.collector.cuts.commit()
    log.info("daemon.stopped")


async def _serve(assembly: Assembly, started: float) -> None:
    changed = ChangedPaths()
    queue = SourceQueue()
    desk = Desk(assembly, queue)
    lookout = Lookout(assembly, changed, queue, desk)
    async with anyio.create_task_group() as group:
        # First of all, so that a signal during start-up is heard.
        group.start_soon(_stop_on_signal, group.cancel_scope)
        await desk.recover()
        group.start_soon(desk.visit_forever)
        group.start_soon(desk.seal_forever)
        group.start_soon(desk.commit_forever)
        group.start_soon(lookout.pump_forever)
        await group.start(lookout.watch_forever)
        log.info("daemon.ready", seconds=round(time.monotonic() - started, 3))


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            log.info("daemon.stopping", signal=signal.Signals(number).name)
            scope.cancel()
            return
