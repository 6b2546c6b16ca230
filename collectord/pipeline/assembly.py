"""
Everything that writes below a landing root, put together and taken apart again.

The lock is taken first and given back last: while it is held, nobody else writes.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from collectord.adapter import Plugin
from collectord.config import Config
from collectord.errors import RootGone
from collectord.landing import PRIVATE, SHARED, LandingRoot
from collectord.pipeline.collector import Collector
from collectord.pipeline.cuts import Cuts
from collectord.pipeline.roots import Roots, find_roots
from collectord.pipeline.witness import SourceWitness
from collectord.state import RootLock, Store, store_path

__all__ = ["Assembly", "Surroundings", "assemble", "landing_root"]


_MOST_TRACKS: Final = 512
_LEAST_TRACKS: Final = 8
_DESCRIPTORS: Final = 3
"""What a followed source may hold: itself, its open file, and one of them anew."""
_SPARE: Final = 128
"""For the store, the watchers, seals under way and the standard library."""


class Surroundings(NamedTuple):
    """What the machine and the person give."""

    config: Config
    state_dir: Path
    plugins: Sequence[Plugin]
    paths: Sequence[Path] = ()
    """What a person narrowed the collection to; empty: everything."""
    environ: Mapping[str, str] = os.environ
    home: Path = Path.home()

    def roots(self, landing: LandingRoot, *, record: bool = True) -> Roots:
        """Return the adapters' roots as they are now. Raises as `find_roots`."""
        return find_roots(
            self.plugins,
            self.config,
            landing,
            environ=self.environ,
            home=self.home,
            paths=self.paths,
            record=record,
        )


class Assembly(NamedTuple):
    """A landing root that is being written to."""

    root: LandingRoot
    store: Store
    roots: Roots
    collector: Collector
    surroundings: Surroundings
    lock: RootLock

    def check_root(self) -> None:
        """Raise `RootGone` when the landing root was removed or replaced since it was locked."""
        if not self.lock.is_still_ours():
            raise RootGone(self.root.path)


def landing_root(config: Config) -> LandingRoot:
    """Return the landing root of *config*; nothing is created."""
    modes = SHARED if config.landing.mode == "shared" else PRIVATE
    durable = config.landing.fsync != "never"
    return LandingRoot(config.landing.root.expanduser(), modes, durable=durable)


def _max_tracks() -> int:
    """Return how many sources may be followed at a time, with as many descriptors as there may be."""
    try:
        import resource  # noqa: PLC0415 - absent on Windows
    except ImportError:
        return _MOST_TRACKS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_TRACKS * _DESCRIPTORS + _SPARE
    if soft != resource.RLIM_INFINITY and soft < wanted:
        raised = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    return max(_LEAST_TRACKS, min(_MOST_TRACKS, (soft - _SPARE) // _DESCRIPTORS))


@contextmanager
def assemble(surroundings: Surroundings, *, gather: bool = False) -> Iterator[Assembly]:
    """
    Open the landing root for writing; for one pass, *gather* what is written (see `Writer`).

    Raises:
        RootBusy: Another process writes to it.
        LandingError, StateError: It, or the state store, cannot be used.
        NothingFound, ConfigError: See `find_roots`.
    """
    config = surroundings.config
    root = landing_root(config)
    root_id = root.create()
    with RootLock(root) as lock:
        store = Store(store_path(surroundings.state_dir, root.path), root_id)
        try:
            roots = surroundings.roots(root)
            witness = SourceWitness(roots, config.limits.convert_bytes)
            cuts = Cuts(root, store, config, witness, gather=gather)
            try:
                collector = Collector(cuts, roots, config, max_tracks=_max_tracks())
                yield Assembly(root, store, roots, collector, surroundings, lock)
            finally:
                cuts.close()
        finally:
            store.close()
