"""
Sources waiting for a visit: one entry a source, live ones first.

Lives on the event loop. The size is bounded by the number of sources: marking one that
waits already changes nothing. A backfill never delays a live session for longer than
the slice that is being read, and still gets its turn under a storm.
"""

import asyncio
from typing import Final

from collectord.adapter import Source

__all__ = ["SourceQueue"]

_Key = tuple[str, str]

PATIENCE: Final = 16
"""After so many live visits in a row, one of the backfill."""


class SourceQueue:
    """Two lanes of sources, each source in at most one of them."""

    def __init__(self) -> None:
        self._live: dict[_Key, Source] = {}
        self._backfill: dict[_Key, Source] = {}
        self._arrived = asyncio.Event()
        self._in_a_row = 0

    def __len__(self) -> int:
        return len(self._live) + len(self._backfill)

    def put(self, source: Source, *, live: bool) -> None:
        """Ask for a visit; a live one overtakes what was found by a walk."""
        key = (source.adapter, source.src)
        if key in self._live:
            return
        if live:
            self._backfill.pop(key, None)
            self._live[key] = source
        else:
            self._backfill.setdefault(key, source)
        self._arrived.set()

    async def take(self) -> tuple[Source, bool]:
        """Wait for the next source; return it with whether it came from the live lane."""
        while not (self._live or self._backfill):
            self._arrived.clear()
            await self._arrived.wait()
        from_live = bool(self._live) and (self._in_a_row < PATIENCE or not self._backfill)
        self._in_a_row = self._in_a_row + 1 if from_live else 0
        lane = self._live if from_live else self._backfill
        return lane.pop(next(iter(lane))), from_live
