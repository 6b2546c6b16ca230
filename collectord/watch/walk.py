"""
Every regular file below a folder, with its figures.

Folders behind symbolic links are entered, each real folder once, so a loop ends; who
wants to watch them is told, because no events come from behind a link. What cannot be
read is passed over: it is tried again at the next walk.
"""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from collectord.sources import Stat

__all__ = ["walk"]

MAX_DEPTH: Final = 16

Linked = Callable[[Path], None]


def walk(top: Path, linked: Linked = lambda _link: None) -> Iterator[tuple[Path, Stat]]:
    """
    Yield each regular file below *top* (or *top* itself) in order of name.

    Args:
        top: A folder or a file.
        linked: Called with each symbolic link through which a folder is entered.
    """
    try:
        found = top.stat()
    except OSError:
        return
    if stat.S_ISREG(found.st_mode):
        yield top, Stat.of(found)
        return
    if stat.S_ISDIR(found.st_mode) and top.is_symlink():
        linked(top)
    entered = {(found.st_dev, found.st_ino)}
    yield from _walk(os.fspath(top), entered, MAX_DEPTH, linked)


def _walk(
    folder: str, entered: set[tuple[int, int]], depth: int, linked: Linked
) -> Iterator[tuple[Path, Stat]]:
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
                if entry.is_symlink():
                    linked(Path(entry.path))
                yield from _walk(entry.path, entered, depth - 1, linked)
