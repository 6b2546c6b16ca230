"""
One writer a landing root: a `flock` on ``<root>/.collectord/lock``.

The file is never deleted or replaced (that would let a second one in), and its text is
for people only: a lock is held by a living process, whatever a pid in a file says.
`flock` survives an unrelated open and close of the file, which a POSIX lock does not.
"""

import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from collectord.errors import LandingError, RootBusy
from collectord.landing import LandingRoot

try:
    import fcntl as _fcntl
except ImportError:  # Windows: the package imports, more is not promised
    _fcntl = None  # type: ignore[assignment]

__all__ = ["Holder", "RootLock", "holder_of"]

_PATIENCE_S: Final = 0.5
"""How long a start waits for a lock: `holder_of` of another process takes it for a moment."""


class Holder(msgspec.Struct, frozen=True):
    """Who wrote the lock's text: for people, not for decisions."""

    pid: int = 0
    host: str = ""
    start: str = ""

    def __str__(self) -> str:
        return f"pid {self.pid} on {self.host}, since {self.start}" if self.pid else "unknown"


class RootLock:
    """The right to write to a landing root; released on exit, and by the kernel on any death."""

    def __init__(self, root: LandingRoot) -> None:
        """
        Take the lock.

        Raises:
            RootBusy: Another process holds it.
            LandingError: The lock file cannot be opened or locked.
        """
        path = root.own / "lock"
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, root.modes.open)
        except OSError as error:
            raise LandingError(path, f"cannot be opened: {error.strerror}") from error
        deadline = time.monotonic() + _PATIENCE_S
        while not _try_lock(fd, shared=False):
            if time.monotonic() > deadline:
                os.close(fd)
                raise RootBusy(root.path, str(_read_holder(path)))
            time.sleep(0.02)
        self._fd = fd
        self._path = path
        holder = Holder(
            os.getpid(), socket.gethostname(), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        )
        try:
            os.ftruncate(fd, 0)
            os.pwrite(fd, msgspec.json.encode(holder) + b"\n", 0)
        except OSError as error:
            os.close(fd)
            raise LandingError(path, f"cannot be written: {error.strerror}") from error

    def is_still_ours(self) -> bool:
        """Return whether the lock's path still names the file that was locked."""
        try:
            there = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True  # a share that is away for a moment is not another root
        locked = os.fstat(self._fd)
        return (there.st_dev, there.st_ino) == (locked.st_dev, locked.st_ino)

    def release(self) -> None:
        """Let the next one in."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def holder_of(root: LandingRoot) -> Holder | None:
    """Return who holds the lock of *root*; None: nobody does."""
    path = root.own / "lock"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        return None if _try_lock(fd, shared=True) else _read_holder(path)
    finally:
        os.close(fd)


def _try_lock(fd: int, *, shared: bool) -> bool:
    module: Any = _fcntl
    if module is None:
        return True
    try:
        module.flock(fd, (module.LOCK_SH if shared else module.LOCK_EX) | module.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_holder(path: Path) -> Holder:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (OSError, msgspec.DecodeError):
        return Holder()
