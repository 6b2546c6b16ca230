"""
Every regular file below a folder, with its figures.

Folders behind symbolic links are entered, each real folder once, so a loop ends. What
cannot be read is passed over: it is tried again at the next walk.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from collectord.sources import Stat

__all__ = ["walk"]

MAX_DEPTH: Final = 16


def walk(top: Path) -> Iterator[tuple[Path, Stat]]:
    """Yield each regular file below *top* (or *top* itself) in order of name."""
    try:
        found = top.stat()
    except OSError:
        return
    if stat.S_ISREG(found.st_mode):
        yield top, Stat.of(found)
        return
    entered = {(found.st_dev, found.st_ino)}
    yield from _walk(os.fspath(top), entered, MAX_DEPTH)


def _walk(folder: str, entered: set[tuple[int, int]], depth: int) -> Iterator[tuple[Path, Stat]]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        try:
            found = entry.stat()
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            yield Path(entry.path), Stat.of(found)
        elif stat.S_ISDIR(found.st_mode) and depth > 0:
            key = (found.st_dev, found.st_ino)
            if key not in entered:
                entered.add(key)
                yield from _walk(entry.path, entered, depth - 1)
