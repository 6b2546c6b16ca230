"""The queue holds each source once, and lets the followed ones overtake."""

from pathlib import Path

import anyio
import pytest

from collectord.adapter import Reader, Source
from collectord.pipeline import Lane, SourceQueue
from collectord.sessiondata import Kind

pytestmark = pytest.mark.anyio


def source(name: str) -> Source:
    return Source("plain-local", name, Path(name), Kind.TRANSCRIPT, Reader.LINES, name, "main")


async def taken(queue: SourceQueue, count: int) -> list[str]:
    found = []
    for _ in range(count):
        with anyio.fail_after(5):
            one, _lane = await queue.take()
        found.append(one.src)
    return found


async def test_a_source_waits_once() -> None:
    queue = SourceQueue()
    for _ in range(3):
        queue.put(source("a"), Lane.NEW)
        queue.put(source("b"), Lane.NEW)
    assert len(queue) == 2
    assert await taken(queue, 2) == ["a", "b"]


async def test_a_followed_source_overtakes_and_none_falls_back() -> None:
    queue = SourceQueue()
    queue.put(source("old"), Lane.BACKFILL)
    queue.put(source("new"), Lane.NEW)
    queue.put(source("live"), Lane.FOLLOWED)
    queue.put(source("live"), Lane.BACKFILL)
    queue.put(source("old"), Lane.FOLLOWED)
    assert len(queue) == 3
    assert await taken(queue, 3) == ["live", "old", "new"]


async def test_the_backfill_gets_its_turn_under_a_storm() -> None:
    queue = SourceQueue()
    for name in ("first", "second"):
        queue.put(source(name), Lane.BACKFILL)
    order = []
    for number in range(60):
        queue.put(source(f"live{number}"), Lane.FOLLOWED)
        order += await taken(queue, 1)
    assert order.index("first") < order.index("second") < 40


async def test_a_taker_that_waits_is_woken() -> None:
    queue = SourceQueue()
    found: list[str] = []

    async def take() -> None:
        found.extend(await taken(queue, 1))

    async with anyio.create_task_group() as group:
        group.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        queue.put(source("a"), Lane.NEW)
    assert found == ["a"]
