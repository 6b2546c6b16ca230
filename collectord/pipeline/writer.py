"""
The writer: files are created, appended to and sealed beside the conversion.

The steps of a session are taken in the order in which they were asked for, so a number
of it is durable before the next one is taken, and a record before the one after it.
Sealing mostly waits for the disk; a few threads do it, each file by itself.

Live, every step is taken at once, by one thread. In one pass they are gathered, and
taken together while the conversion waits: threads that take turns with it cost more
than they save, and files that are synced at the same time share the disk's journal.

When a step fails, no later step of that session is taken: what was asked for is
abandoned, and the session is derived from the disk again (`Cuts.give_up`).
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Final

from collectord.adapter import Source
from collectord.landing import LandedSession, OpenFile
from collectord.sessiondata import Header

__all__ = ["Abandoned", "Cut", "Step", "Writer"]

_SEALING_THREADS: Final = 8
MAX_STEPS: Final = 1024
MAX_BYTES: Final = 24 << 20
"""More steps or bytes than this wait for the oldest: memory and descriptors stay bounded."""


class Abandoned(Exception):
    """A step was not taken, because one before it in the same session had failed."""


class Cut:
    """A growing file as the conversion sees it: what was handed over, done or not."""

    def __init__(
        self,
        session: LandedSession,
        source: Source | None,
        header: Header,
        path: Path,
        file: OpenFile | None = None,
    ) -> None:
        self.session = session
        self.source = source
        """None: an open file that recovery left, of a source that is not collected any more."""
        self.header = header
        self.path = path
        """Its name while it grows."""
        self.size = file.size if file is not None else 0
        self.opened_at_s = self.touched_at_s = time.monotonic()
        self.file = file
        """Belongs to the writer's threads."""

    @property
    def seq(self) -> int:
        """Its number in the session."""
        assert isinstance(self.header.seq, int)
        return self.header.seq

    def close(self) -> None:
        """Give the descriptor back; only when no step of it is under way."""
        if self.file is not None:
            self.file.close()


class Step:
    """Something the writer was asked to do to a file."""

    __slots__ = ("bytes", "cut", "done", "sealed")

    def __init__(self, cut: Cut, done: "Future[None]", size: int = 0) -> None:
        self.cut = cut
        self.done = done
        self.bytes = size
        self.sealed: tuple[Path, str] | None = None
        """After a seal: the file's path, and the SHA-256 of its bytes."""


class Writer:
    """Takes the steps, in order; asked and reaped from one thread."""

    def __init__(self, *, sync_appends: bool, closing_line: bool, gather: bool = False) -> None:
        """
        Start the threads.

        Args:
            sync_appends: Bring each append to the disk before the next.
            closing_line: End each sealed file with its digest.
            gather: Take the steps together, when there are many or somebody waits for one.
        """
        self._gathered: dict[int, list[Callable[[], object]]] | None = {} if gather else None
        """By session: the steps that are to be taken, when they are gathered."""
        self._sync_appends = sync_appends
        self._closing_line = closing_line
        self._has_taken = False
        """Whether gathered steps were taken since they were last reaped."""
        self._order = ThreadPoolExecutor(1, thread_name_prefix="land")
        self._sealing = ThreadPoolExecutor(_SEALING_THREADS, thread_name_prefix="seal")
        self._steps: deque[Step] = deque()
        self._bytes = 0

    def create(self, cut: Cut, step: Callable[[], OpenFile]) -> None:
        """Create the cut's file with *step*."""

        def create() -> None:
            cut.file = step()

        self._ask(cut, create)

    def append(self, cut: Cut, data: bytearray, records: int) -> None:
        """Append whole lines; *data* belongs to the writer from now on."""

        def append() -> None:
            assert cut.file is not None
            cut.file.append(data, records=records)
            if self._sync_appends:
                cut.file.sync()

        cut.size += len(data)
        cut.touched_at_s = time.monotonic()
        self._ask(cut, append, len(data))

    def append_pieces(self, cut: Cut, pieces: Iterable[bytes]) -> None:
        """Append one long record, and wait for it: *pieces* read from the source."""

        def append() -> None:
            assert cut.file is not None
            cut.file.append_pieces(pieces)
            if self._sync_appends:
                cut.file.sync()

        step = self._ask(cut, append)
        self._take_gathered()
        wait([step.done])
        if cut.file is not None:
            cut.size = cut.file.size
        cut.touched_at_s = time.monotonic()

    def seal(self, cut: Cut) -> None:
        """Seal the cut's file, after everything that was asked of it."""
        step = Step(cut, Future())

        def seal() -> None:
            assert cut.file is not None
            step.sealed = cut.file.seal(closing_line=self._closing_line)

        def hand_over() -> None:
            self._sealing.submit(_take, cut, seal, step.done)

        self._send(cut, hand_over)
        self._steps.append(step)

    def done(self, wanted: Callable[[Step], bool] | None = None) -> Iterator[Step]:
        """
        Yield the steps that were taken, or not, oldest first.

        Args:
            wanted: Steps to wait for; by default only while there are too many.
        """
        if wanted is not None:
            awaited = [step.done for step in self._steps if wanted(step)]
            if awaited:
                self._take_gathered()
            wait(awaited)
        elif len(self._steps) > MAX_STEPS or self._bytes > MAX_BYTES:
            self._take_gathered()
            wait([self._steps[0].done])
        elif self._gathered is not None and not self._has_taken:
            return
        self._has_taken = False
        kept: deque[Step] = deque()
        finished: list[Step] = []
        for step in self._steps:
            (finished if step.done.done() else kept).append(step)
        self._steps = kept
        for step in finished:
            self._bytes -= step.bytes
        yield from finished

    def close(self) -> None:
        """End the threads, after what was asked."""
        self._take_gathered()
        self._order.shutdown(wait=True)
        self._sealing.shutdown(wait=True)

    def _ask(self, cut: Cut, take: Callable[[], None], size: int = 0) -> Step:
        step = Step(cut, Future(), size)
        self._send(cut, partial(_take, cut, take, step.done))
        self._steps.append(step)
        self._bytes += size
        return step

    def _send(self, cut: Cut, call: Callable[[], object]) -> None:
        if self._gathered is None:
            self._order.submit(call)
        else:
            self._gathered.setdefault(id(cut.session), []).append(call)

    def _take_gathered(self) -> None:
        """Take the gathered steps, those of a session one after the other, and wait for all."""
        if self._gathered:
            chains, self._gathered = self._gathered, {}
            for calls in chains.values():
                self._sealing.submit(_take_all, calls)
            wait([step.done for step in self._steps])
            self._has_taken = True


def _take_all(calls: list[Callable[[], object]]) -> None:
    for call in calls:
        call()


def _take(cut: Cut, take: Callable[[], None], done: "Future[None]") -> None:
    """Take a step, unless the session is broken; one that fails breaks it."""
    if cut.session.is_broken:
        done.set_exception(Abandoned())
        return
    try:
        take()
    except BaseException as error:  # noqa: BLE001 - it is told where the step is reaped
        cut.session.is_broken = True
        done.set_exception(error)
    else:
        done.set_result(None)
