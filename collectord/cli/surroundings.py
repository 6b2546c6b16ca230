"""What a command that writes to a landing root, or asks the adapters, starts from."""

import ctypes
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from collectord.cli import console
from collectord.cli.settings import Settings
from collectord.pipeline import Surroundings

__all__ = ["keep_freed_memory", "look_less_for_cycles", "places", "surroundings_of", "where_looked"]

_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2
_M_MMAP_THRESHOLD: Final = -3


def surroundings_of(settings: Settings, paths: Sequence[Path] = ()) -> Surroundings:
    """Return the machine and the person's wishes as the pipeline takes them."""
    for refused in settings.registry.refused:
        console.write_warning(str(refused))
    return Surroundings(
        settings.config,
        settings.state_dir,
        settings.plugins,
        tuple(paths),
        os.environ,
        Path.home(),
    )


def keep_freed_memory() -> None:
    """
    Let freed memory be used again instead of being given back and asked for again.

    A pass takes and frees a megabyte at a time; for the system each is a new one, page by
    page, which is 6 % of the time. glibc only; elsewhere nothing happens.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, 64 << 20)
        mallopt(_M_TOP_PAD, 4 << 20)
        mallopt(_M_MMAP_THRESHOLD, 32 << 20)


def look_less_for_cycles() -> None:
    """
    Let Python's collector of cycles rest: what a record is made of holds none.

    It would look through all new containers every few records, for 5 % of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def places(surroundings: Surroundings) -> list[tuple[str, Path]]:
    """Return (agent, folder) for each place where sessions are looked for."""
    found: list[tuple[str, Path]] = []
    for plugin in surroundings.plugins:
        configured = surroundings.config.adapter(plugin.key, plugin.adapter.name).roots
        standard = plugin.adapter.roots(surroundings.environ, surroundings.home)
        found += [(plugin.adapter.title, path) for path in dict.fromkeys([*standard, *configured])]
    return found


def where_looked(surroundings: Surroundings) -> str:
    """Return one sentence that says where sessions were looked for."""
    if surroundings.paths:
        return "looked in " + ", ".join(map(str, surroundings.paths))
    named = [f"{path} ({title})" for title, path in places(surroundings)]
    return "looked in " + ", ".join(named) if named else "no adapter is enabled"
