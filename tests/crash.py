"""
Die at the n-th step that touches the file system, as SIGKILL would: nothing after it happens.

The steps are the calls that change something on disk. Before the step, or right after
it (the two differ: a rename may be done and not known), everything raises `Killed`, so
no cleanup code can help.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from collectord.landing import durable

STEPS = (
    "open",
    "write",
    "fsync",
    "fchmod",
    "chmod",
    "rename",
    "unlink",
    "mkdir",
    "ftruncate",
    "link",
    "pwrite",
)


class Killed(BaseException):
    """The process is dead."""


class Killer:
    """Counts steps, and dies at one."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.at = at
        self.after = after
        self.count = 0
        self.dead = False
        self.name = ""
        self.held: set[int] = set()
        """Descriptors that the death of the process would close."""

    def opened(self, call: Callable[..., int]) -> Callable[..., int]:
        def opening(*args: Any, **kwargs: Any) -> int:
            fd = call(*args, **kwargs)
            self.held.add(fd)
            return fd

        return opening

    def closed(self, call: Callable[[int], None]) -> Callable[[int], None]:
        def closing(fd: int) -> None:
            self.held.discard(fd)
            call(fd)

        return closing

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            if self.dead:
                raise Killed(self.name)
            if name == "open" and not args[1] & (os.O_CREAT | os.O_TRUNC):
                return call(*args, **kwargs)
            self.count += 1
            if self.count == self.at:
                self.dead = True
                self.name = name
                if self.after:
                    call(*args, **kwargs)
                elif name == "write":
                    call(args[0], bytes(args[1])[: len(args[1]) // 2])
                raise Killed(name)
            return call(*args, **kwargs)

        return step


@contextlib.contextmanager
def killed_at(at: int, *, after: bool) -> Iterator[Killer]:
    """Run the block and die at step *at*; `Killer.dead` says whether it came to that."""
    killer = Killer(at, after=after)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", killer.opened(os.open))
        patch.setattr(os, "close", killer.closed(os.close))
        for name in STEPS:
            patch.setattr(os, name, killer.wrap(name, getattr(os, name)))
        patch.setattr(
            durable, "_rename_exclusive", killer.wrap("renameat2", durable._rename_exclusive)
        )
        with contextlib.suppress(Killed):
            yield killer
    for fd in killer.held if killer.dead else ():
        with contextlib.suppress(OSError):
            os.close(fd)
