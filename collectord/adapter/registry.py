"""
Find the plug-ins: the entry-point group ``collectord.adapters``.

The built-in adapters come in through the same door as a stranger's. A plug-in that
cannot be loaded, or lacks a part of the contract, is refused by name; the others go on.
"""

import re
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Final, NamedTuple

from collectord.adapter.contract import Adapter, Dialect
from collectord.errors import PluginRefused

__all__ = ["GROUP", "Plugin", "Registry", "load_registry"]

GROUP: Final = "collectord.adapters"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]*")


class Plugin(NamedTuple):
    """One adapter that was found."""

    key: str
    """The entry point's name: what a person types (``claude-code``)."""
    adapter: Adapter
    distribution: str
    """The distribution that brings it, with its version."""


class Registry(NamedTuple):
    """All plug-ins of this installation."""

    plugins: tuple[Plugin, ...]
    refused: tuple[PluginRefused, ...]

    def get(self, key: str) -> Plugin | None:
        """Return the plug-in called *key* (the typed name or the adapter's own)."""
        return next((p for p in self.plugins if key in (p.key, p.adapter.name)), None)


def load_registry(found: Iterable[EntryPoint] | None = None) -> Registry:
    """Load every plug-in (of *found*, for tests; default: of the installation)."""
    plugins: dict[str, Plugin] = {}
    refused: list[PluginRefused] = []
    for point in sorted(entry_points(group=GROUP) if found is None else found, key=_order):
        distribution = _distribution(point)
        try:
            adapter = _checked(point, distribution)
            for taken in plugins.values():
                if same := {taken.key, taken.adapter.name} & {point.name, adapter.name}:
                    raise PluginRefused(
                        point.name,
                        distribution,
                        f"{taken.distribution} already brings an adapter named {min(same)!r}",
                    )
        except PluginRefused as error:
            refused.append(error)
        else:
            plugins[point.name] = Plugin(point.name, adapter, distribution)
    return Registry(tuple(plugins.values()), tuple(refused))


def _checked(point: EntryPoint, distribution: str) -> Adapter:
    try:
        return _contract_kept(point, distribution, point.load())
    except PluginRefused:
        raise
    except (Exception, SystemExit) as error:  # a stranger's code may do anything
        said = str(error).partition("\n")[0]
        reason = f"{type(error).__name__} while it was loaded{': ' if said else ''}{said}"
        raise PluginRefused(point.name, distribution, reason) from error


def _contract_kept(point: EntryPoint, distribution: str, loaded: object) -> Adapter:
    if not isinstance(loaded, Adapter):
        raise PluginRefused(
            point.name, distribution, f"{point.value} is no Adapter: {_missing(loaded, Adapter)}"
        )
    if not isinstance(loaded.dialect, Dialect):
        raise PluginRefused(
            point.name, distribution, f"its dialect is none: {_missing(loaded.dialect, Dialect)}"
        )
    stated: dict[str, object] = {
        "name": loaded.name,
        "version": loaded.version,
        "dialect's name": loaded.dialect.name,
    }
    for name, value in stated.items():
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise PluginRefused(point.name, distribution, f"its {name} is {value!r}")
    title: object = loaded.title
    if not (isinstance(title, str) and title and title.isprintable()):
        raise PluginRefused(point.name, distribution, f"its title is {title!r}")
    return loaded


def _missing(loaded: object, wanted: type) -> str:
    names = [name for name in vars(wanted) if not name.startswith("_")]
    missing = [name for name in names if not hasattr(loaded, name)]
    return f"it has no {', '.join(missing)}"


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"


def _order(point: EntryPoint) -> tuple[bool, str]:
    """Sort the built-ins first, so that a stranger cannot take their name."""
    return (not point.value.startswith("collectord_adapters."), point.name)
