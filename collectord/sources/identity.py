"""
Whether a file is still the one that was landed.

What proves it are digests of what was landed, checked on the descriptor that is read.
Inode, times and size are hints that a check is due: ext4 gives a freed inode number to
the next file at once.

Source: docs/format.md, "Sources".
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

from collectord.errors import SourceGone, SourceRefused
from collectord.sources.record import RawRecord

__all__ = ["Anchor", "Stat", "first_broken", "open_source", "pick_anchors", "sha256_of_range"]

_CHUNK: Final = 1 << 20
_ANCHOR_BYTES: Final = 64 << 10
"""How much of a file's head and of what is before the cursor is hashed at each visit."""
_ANCHORS: Final = 4


class Stat(NamedTuple):
    """What ``stat`` says about a file; equal means that it need not be opened."""

    dev: int
    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        """Take the five figures out of *found*."""
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class Anchor(NamedTuple):
    """A landed record's place and digest: one link of the chain."""

    ord: int
    off: int
    size: int
    sha: str
    """12 or 64 hex digits; the shorter prefix is compared."""

    @classmethod
    def of(cls, raw: RawRecord) -> Self:
        """Return the anchor that *raw* will be, once landed."""
        return cls(raw.ord, raw.off, raw.size, raw.sha)


def open_source(path: Path) -> int:
    """
    Open *path* for reading and return the descriptor. Never blocks, never changes the file.

    Raises:
        SourceGone: It is not there.
        SourceRefused: It is not a regular file.
        OSError: It cannot be read now.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0))
    except (FileNotFoundError, NotADirectoryError):
        raise SourceGone(path) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise SourceRefused(path, "not a regular file")
    return fd


def sha256_of_range(fd: int, off: int, size: int) -> str:
    """Return the SHA-256 of *size* bytes from *off*, in hex; of fewer where the file ends."""
    digest = hashlib.sha256()
    while size > 0:
        chunk = os.pread(fd, min(size, _CHUNK), off)
        if not chunk:
            break
        digest.update(chunk)
        off += len(chunk)
        size -= len(chunk)
    return digest.hexdigest()


def first_broken(fd: int, anchors: Iterable[Anchor]) -> Anchor | None:
    """Return the first of *anchors* whose bytes are not in the file at its place; None: all are."""
    size = os.fstat(fd).st_size
    for anchor in anchors:
        if anchor.off + anchor.size > size:
            return anchor
        found = sha256_of_range(fd, anchor.off, anchor.size)
        if not found.startswith(anchor.sha):
            return anchor
    return None


def pick_anchors(chain: Sequence[Anchor]) -> tuple[list[Anchor], list[Anchor]]:
    """Return the few links at the head of *chain* and at its end that a visit checks."""
    return _few(chain), _few(chain[-_ANCHORS:][::-1])[::-1]


def _few(chain: Sequence[Anchor]) -> list[Anchor]:
    picked: list[Anchor] = []
    total = 0
    for anchor in chain[:_ANCHORS]:
        total += anchor.size
        if picked and total > _ANCHOR_BYTES:
            break
        picked.append(anchor)
    return picked
