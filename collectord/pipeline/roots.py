"""
The adapters' roots on this machine, and the way from a path to a source and back.

``src`` names a source below its root; in a further root of the same adapter it starts
with ``@<label>/``. A folder that a person names and that lies in a known root narrows
that root and keeps its sources' names.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import structlog
from structlog.typing import FilteringBoundLogger

from collectord.adapter import Adapter, Plugin, Source
from collectord.config import AdapterConfig, Config
from collectord.errors import ConfigError, NothingFound
from collectord.landing import LandingRoot
from collectord.landing.labels import RootLabels

__all__ = ["AdapterRoot", "Roots", "find_roots"]

log: FilteringBoundLogger = structlog.get_logger()


class AdapterRoot(NamedTuple):
    """One root of one adapter, with the part of it that is collected."""

    key: str
    """What a person types for the adapter."""
    adapter: Adapter
    path: Path
    label: str
    only: tuple[Path, ...] = ()
    """Files or folders in it; empty: all of it."""
    wants: AdapterConfig = AdapterConfig()

    @property
    def prefix(self) -> str:
        """What ``src`` starts with in this root."""
        return f"@{self.label}/" if self.label else ""

    def locate(self, path: Path) -> Source | None:
        """Return the source at *path*, or None when it is none that is to be collected."""
        if self.only and not any(path == only or only in path.parents for only in self.only):
            return None
        source = self.source_at(path)
        return source if source is not None and self.wants.wants(source.src) else None

    def source_at(self, path: Path) -> Source | None:
        """Return the source at *path*, whether or not it is to be collected now."""
        try:
            source = self.adapter.locate(self.path, path)
        except Exception as error:  # noqa: BLE001 - the plug-in boundary: the path is none of its sources
            log.error(
                "plugin.refused", adapter=self.key, reason=f"{type(error).__name__} in locate"
            )
            return None
        return source and source._replace(src=self.prefix + source.src)

    @property
    def tops(self) -> tuple[Path, ...]:
        """The folders and files that are collected: the root, or the parts of it."""
        return self.only or (self.path,)

    def holds(self, path: Path) -> bool:
        """Return whether *path* is this root or lies in it."""
        return path == self.path or self.path in path.parents


class Roots:
    """Every root that is collected."""

    def __init__(self, roots: Sequence[AdapterRoot]) -> None:
        self.all = tuple(roots)

    def replace(self, other: "Roots") -> None:
        """Take over what *other* found: a root may appear while the daemon runs."""
        self.all = other.all

    def locate(self, path: Path) -> Source | None:
        """Return the source at *path* in any root."""
        for root in self.all:
            if root.holds(path):
                source = root.locate(path)
                if source is not None:
                    return source
        return None

    def source_at(self, path: Path) -> Source | None:
        """Return the source at *path*, whether or not it is to be collected now."""
        return next((s for r in self.all if r.holds(path) and (s := r.source_at(path))), None)

    def path_of(self, adapter: str, src: str) -> Path | None:
        """Return where a source's file is; None when its root is not among these."""
        for root in self.all:
            if root.adapter.name != adapter:
                continue
            if root.label and src.startswith(root.prefix):
                return root.path / src.removeprefix(root.prefix)
            if not root.label and not src.startswith("@"):
                return root.path / src
        return None

    def adapter(self, name: str) -> Adapter | None:
        """Return the adapter called *name*."""
        return next((root.adapter for root in self.all if root.adapter.name == name), None)


_Wanted = tuple[Plugin, Path, tuple[Path, ...], AdapterConfig]


def find_roots(
    plugins: Sequence[Plugin],
    config: Config,
    landing: LandingRoot,
    *,
    environ: Mapping[str, str],
    home: Path,
    paths: Sequence[Path] = (),
    record: bool = True,
) -> Roots:
    """
    Return the roots to collect: all that the adapters know, or what *paths* narrow them to.

    Args:
        plugins: The adapters that are asked.
        config: For each adapter's further roots, and whether it is enabled.
        landing: The landing root, which knows the labels.
        environ: The environment to ask the adapters with.
        home: The person's home folder.
        paths: Files or folders to collect; empty: everything.
        record: Whether a root that is met for the first time is given its label for good.

    Raises:
        NothingFound: A path holds nothing that an adapter knows.
        ConfigError: A root and the landing root lie in one another.
        OSError: A label could not be written.
    """
    labels = RootLabels(landing)
    found: list[AdapterRoot] = []
    known: list[tuple[Plugin, Path, AdapterConfig]] = []
    for plugin in plugins:
        settings = config.adapter(plugin.key, plugin.adapter.name)
        if not settings.enabled:
            continue
        paths_of = _unique([*plugin.adapter.roots(environ, home), *settings.roots])
        known += [(plugin, path, settings) for path in paths_of]
    if not paths:
        wanted: list[_Wanted] = [(plugin, path, (), settings) for plugin, path, settings in known]
    else:
        wanted = _narrowed(plugins, config, known, [_absolute(path) for path in paths])
    for plugin, path, only, settings in wanted:
        _check_apart(path, landing.path)
        name = plugin.adapter.name
        label = labels.find(name, path)
        if label is None and not path.is_dir():
            continue  # a root that does not exist yet is waited for, and labelled when it comes
        if label is None:
            label = labels.label_of(name, path, keep=record)
        found.append(AdapterRoot(plugin.key, plugin.adapter, path, label, tuple(only), settings))
    return Roots(found)


def _narrowed(
    plugins: Sequence[Plugin],
    config: Config,
    known: Sequence[tuple[Plugin, Path, AdapterConfig]],
    paths: Sequence[Path],
) -> list[_Wanted]:
    chosen: dict[tuple[str, Path], tuple[Plugin, set[Path], AdapterConfig]] = {}
    for given in paths:
        if not given.exists():
            raise NothingFound(f"{given}: no such file or folder")
        hits = 0
        for plugin, root, settings in known:
            if root == given or root in given.parents or given in root.parents:
                _choose(chosen, plugin, root, given, settings)
                hits += 1
        if hits:
            continue
        for plugin in plugins:
            settings = config.adapter(plugin.key, plugin.adapter.name)
            for root in plugin.adapter.roots_at(given):
                _choose(chosen, plugin, root, given, settings)
                hits += 1
        if not hits:
            names = ", ".join(plugin.adapter.title for plugin in plugins) or "no adapter"
            raise NothingFound(f"{given}: holds no sessions laid out like those of {names}")
    return [
        (plugin, root, tuple(sorted(only)), settings)
        for (_, root), (plugin, only, settings) in chosen.items()
    ]


def _choose(
    chosen: dict[tuple[str, Path], tuple[Plugin, set[Path], AdapterConfig]],
    plugin: Plugin,
    root: Path,
    given: Path,
    settings: AdapterConfig,
) -> None:
    _, only, _ = chosen.setdefault((plugin.key, root), (plugin, set(), settings))
    if root in given.parents:
        only.add(given)


def _absolute(path: Path) -> Path:
    """Return *path* from the root of the file system, links in it resolved."""
    return path.expanduser().resolve()


def _unique(paths: Sequence[Path]) -> list[Path]:
    """Return each folder once, as a resolved path, in order."""
    return list(dict.fromkeys(_absolute(path) for path in paths))


def _check_apart(source_root: Path, landing: Path) -> None:
    landing = _absolute(landing)
    if landing == source_root or source_root in landing.parents or landing in source_root.parents:
        raise ConfigError(
            [
                f"landing root {landing} and the agent's folder {source_root} lie in one another:"
                " choose a landing root elsewhere with --root or `landing.root`"
            ]
        )
