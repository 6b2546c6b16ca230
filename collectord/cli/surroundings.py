"""What a command that writes to a landing root, or asks the adapters, starts from."""

import gc
import os
from collections.abc import Sequence
from pathlib import Path

from collectord.cli import console
from collectord.cli.settings import Settings
from collectord.pipeline import Surroundings

__all__ = ["look_less_for_cycles", "places", "surroundings_of", "where_looked"]


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


def look_less_for_cycles() -> None:
    """
    Let Python's collector of cycles rest: what a record is made of holds none.

    It would look through all new containers every few records, for 5 % of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 50)


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
