"""
Sources waiting for a visit: one entry a source, in three lanes.

Lives on the event loop. The size is bounded by the number of sources: marking one that
waits already changes nothing. A session that is being followed overtakes files that
appear for the first time, and those overtake what a walk found; so neither a storm of
new files nor a backfill delays a live session for longer than the visit that is under
way. The lower lanes still get their turn.
"""

import asyncio
from enum import IntEnum
from typing import Final

from collectord.adapter import Source

__all__ = ["Lane", "SourceQueue"]

_Key = tuple[str, str]

PATIENCE: Final = 16
"""After so many visits in a row that overtook others, one of the longest-waiting lane."""


class Lane(IntEnum):
    """How soon a source is visited; the lesser overtakes the greater."""

    FOLLOWED = 0
    """Something announced a change of a source whose newest cut is growing."""
    NEW = 1
    """Something announced a source that is not being followed."""
    BACKFILL = 2
    """A walk found it."""


class SourceQueue:
    """Three lanes of sources, each source in at most one of them."""

    def __init__(self) -> None:
        self._lanes: tuple[dict[_Key, Source], ...] = tuple({} for _ in Lane)
        self._arrived = asyncio.Event()
        self._overtakes = 0

    def __len__(self) -> int:
        return sum(map(len, self._lanes))

    def put(self, source: Source, lane: Lane) -> None:
        """Ask for a visit; a source that waits already may only move up."""
        key = (source.adapter, source.src)
        if any(key in better for better in self._lanes[: lane + 1]):
            return
        for worse in self._lanes[lane + 1 :]:
            worse.pop(key, None)
        self._lanes[lane][key] = source
        self._arrived.set()

    async def take(self) -> tuple[Source, Lane]:
        """Wait for the next source; return it with the lane that it waited in."""
        while True:
            waiting = [lane for lane in Lane if self._lanes[lane]]
            if waiting:
                break
            self._arrived.clear()
            await self._arrived.wait()
        lane = waiting[0] if self._overtakes < PATIENCE else waiting[-1]
        self._overtakes = self._overtakes + 1 if lane != waiting[-1] else 0
        entries = self._lanes[lane]
        return entries.pop(next(iter(entries))), lane
