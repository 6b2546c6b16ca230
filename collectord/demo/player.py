"""
Write a session as an agent does: a line at a time, now and then only half of one.

Runs in a thread of its own, and says when each record was complete, so that the time
until it can be read is known.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from collectord.demo.sample import Step

__all__ = ["Half", "Written", "play"]

HALF_S: Final = 0.8
"""How long a half-written line stays one."""


class Written(NamedTuple):
    """A record that the agent has finished."""

    to: str
    ord: int
    line: bytes
    at_s: float
    """When its last byte was written, on the monotonic clock."""


class Half(NamedTuple):
    """A line that the agent has begun."""

    to: str
    bytes: int


def play(
    steps: Sequence[Step],
    home: Path,
    *,
    speed: float,
    stop: threading.Event,
    say: Callable[[Written | Half], None],
) -> None:
    """
    Write *steps* below *home*, *speed* times as fast as the sample says, until *stop* is set.

    Raises:
        OSError: A file could not be written.
    """
    lines: dict[str, int] = {}
    for step in steps:
        if stop.wait(step.wait_s / speed):
            return
        path = home / step.to
        path.parent.mkdir(parents=True, exist_ok=True)
        line = step.written_at(datetime.now(UTC))
        number = lines[step.to] = lines.get(step.to, 0) + 1
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            rest = line if step.is_document else line + b"\n"
            if step.is_torn:
                half = len(line) * 2 // 3
                os.write(fd, rest[:half])
                rest = rest[half:]
                say(Half(step.to, half))
                if stop.wait(HALF_S / speed):
                    return
            os.write(fd, rest)
            say(Written(step.to, number, line, time.monotonic()))
        finally:
            os.close(fd)
