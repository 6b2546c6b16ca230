"""
Files being created and sealed beside the conversion, because a sync mostly waits.

A few threads do nothing but open and seal; each file is owned by one of them until it
is done. What depends on a seal waits for it: the state store's word that a source is
settled, another visit to the same folder, and giving a session up.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from collectord.landing import LandedSession, OpenFile

__all__ = ["Seal", "Seals"]

_WORKERS: Final = 4
MAX_PENDING: Final = 32
"""More seals than this wait for the oldest: memory and descriptors stay bounded."""

_Result = TypeVar("_Result")


class Seal(NamedTuple):
    """One file on its way to being sealed."""

    session: LandedSession
    file: OpenFile
    future: "Future[tuple[Path, str]]"
    """Its path and the SHA-256 of its bytes, once sealed."""


class Seals:
    """The files that are being sealed."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_WORKERS, thread_name_prefix="seal")
        self._pending: list[Seal] = []

    def __len__(self) -> int:
        return len(self._pending)

    def beside(self, step: Callable[[], _Result]) -> "Future[_Result]":
        """Run *step* in one of the threads."""
        return self._threads.submit(step)

    def begin(self, session: LandedSession, file: OpenFile, *, closing_line: bool) -> None:
        """Seal *file*; nobody else touches it from now on."""
        future = self._threads.submit(file.seal, closing_line=closing_line)
        self._pending.append(Seal(session, file, future))

    def done(self, wanted: Callable[[Seal], bool] | None = None) -> Iterator[Seal]:
        """
        Yield the seals that are finished (or failed), oldest first.

        Args:
            wanted: Seals to wait for; by default only when there are too many.
        """
        while len(self._pending) > MAX_PENDING:
            wait([self._pending[0].future])
            yield self._pending.pop(0)
        if wanted is not None:
            wait([seal.future for seal in self._pending if wanted(seal)])
        finished = [seal for seal in self._pending if seal.future.done()]
        self._pending = [seal for seal in self._pending if seal not in finished]
        yield from finished

    def close(self) -> None:
        """End the threads, after what they are doing."""
        self._threads.shutdown(wait=True)
