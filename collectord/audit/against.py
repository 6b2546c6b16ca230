"""
Every source against what landed: those that landed, and those that have not yet.

A source is found through the adapters' roots and the roots that the landing root
remembers, so one that was collected from a folder given by hand needs no PATH again.
Nothing is written, no lock is taken, and no state store is read.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from collectord.adapter import IDENTIFY_BYTES, IDENTIFY_RECORDS, Adapter, Source
from collectord.audit.compare import Comparison
from collectord.audit.finding import AuditKind
from collectord.audit.landed import Cut, Key, landed_sources
from collectord.audit.moved import Moves
from collectord.audit.sums import SourceAudit, Sums
from collectord.errors import CollectordError, NameRefused, SourceGone
from collectord.landing import LandingRoot, last_landed
from collectord.landing.labels import RootLabels
from collectord.pipeline import AdapterRoot, Roots, Surroundings, landing_root
from collectord.reading.files import session_folders
from collectord.sources import Cursor, Stat, open_source, read_lines
from collectord.watch import walk

__all__ = ["Audit", "against_sources"]


class _Found(NamedTuple):
    source: Source
    stat: Stat


def against_sources(surroundings: Surroundings, session_folder: Path | None = None) -> "Audit":
    """
    Return the audit of every source; iterate over it to do the work.

    Args:
        surroundings: The machine and the configuration; ``paths`` narrow what is audited.
        session_folder: Only what landed, or would land, in this folder.

    Raises:
        NothingFound, ConfigError: See `collectord.pipeline.find_roots`.
    """
    return Audit(surroundings, session_folder)


class Audit:
    """The audit of a landing root's sources; its figures are complete once it was iterated over."""

    def __init__(self, surroundings: Surroundings, session_folder: Path | None = None) -> None:
        self.landing = landing_root(surroundings.config)
        self.roots = _every_root(surroundings, self.landing)
        self._surroundings = surroundings
        self._folder = session_folder
        self.totals: dict[tuple[str, str], Sums] = {}
        """The sums by (agent, kind)."""
        self.sources = 0
        self.records = 0
        self.landed = 0
        self.compared = 0
        self.faults = 0
        self.gone = 0
        """Landed sources that are no longer there."""
        self.moved = 0
        """Landed paths that are no longer there, whose records are audited under a new path."""
        self.links = 0
        """Further names of files that were audited."""
        self.unknown: set[str] = set()
        """Adapters or labels of landed sources whose root is not known here."""

    @property
    def total(self) -> Sums:
        """The sums over all sources."""
        total = Sums()
        for sums in self.totals.values():
            total.add(sums)
        return total

    def __iter__(self) -> Iterator[SourceAudit]:
        folders = (
            [self._folder]
            if self._folder is not None
            else [folder for owner, folder in session_folders(self.landing.path) if not owner]
        )
        landed = landed_sources(folders)
        found = self._found(landed)
        moves = Moves(landed, self.roots)
        for key, (source, _) in found.items():
            audit = self._audit(source, landed.get(key, []), moves)
            if audit is not None:
                self._count(audit)
                yield audit
        self._count_absent(landed, found, moves)

    def _found(self, landed: dict[Key, list[Cut]]) -> dict[Key, _Found]:
        """Return every source on disk, each file under one name: one that landed, if any did."""
        found: dict[Key, _Found] = {}
        names: dict[tuple[int, int], Key] = {}
        for root in self.roots.all:
            for top in root.tops:
                for path, stat in walk(top):
                    source = root.locate(path)
                    if source is None:
                        continue
                    key = (source.adapter, source.src)
                    other = names.get(stat[:2])
                    if key in found or (other is not None and key not in landed):
                        self.links += key not in found
                        continue
                    if other is not None and other not in landed:
                        del found[other]
                        self.links += 1
                    names[stat[:2]] = key
                    found[key] = _Found(source, stat)
        for key in landed:
            # Excluded by now, perhaps; what landed is audited all the same.
            place = self.roots.path_of(*key)
            if key in found or place is None or not self._is_wanted(place) or not place.is_file():
                continue
            source = self.roots.source_at(place)
            if source is not None:
                found[key] = _Found(source, Stat.of(place.stat()))
        return found

    def _is_wanted(self, path: Path) -> bool:
        """Whether *path* is in what the person narrowed the audit to."""
        return not self._surroundings.paths or any(
            path == top or top in path.parents
            for root in self.roots.all
            if root.holds(path)
            for top in root.tops
        )

    def _audit(self, source: Source, cuts: Sequence[Cut], moves: Moves) -> SourceAudit | None:
        adapter = self.roots.adapter(source.adapter)
        assert adapter is not None
        audit = SourceAudit(adapter.name, adapter.title, source.src, source.kind, source.path)
        try:
            fd = open_source(source.path)
        except SourceGone:
            return None  # it went while the others were read
        except (CollectordError, OSError) as error:
            audit.find(AuditKind.UNREADABLE, _reason(error))
            return audit
        try:
            source = _identified(source, cuts, fd, adapter)
            if not self._is_of_session(source, cuts):
                return None
            audit.session = source.session
            if not source.is_identified:
                text = "its first records do not say which session it belongs to"
                audit.find(AuditKind.UNIDENTIFIED, text)
            history = moves.history(source, cuts, fd)
            limit = self._surroundings.config.limits.convert_bytes
            Comparison(source, adapter, fd, history, audit, limit).run()
        except OSError as error:
            audit.find(AuditKind.UNREADABLE, _reason(error))
        finally:
            os.close(fd)
        return audit

    def _is_of_session(self, source: Source, cuts: Sequence[Cut]) -> bool:
        if self._folder is None or cuts:
            return True
        try:
            return self.landing.session_folder(source.session) == self._folder
        except NameRefused:
            return False

    def _count(self, audit: SourceAudit) -> None:
        self.sources += 1
        self.records += audit.records
        self.landed += audit.landed
        self.compared += audit.compared
        self.faults += audit.faults
        self.totals.setdefault((audit.title, audit.kind), Sums()).add(audit.sums)

    def _count_absent(
        self, landed: dict[Key, list[Cut]], found: dict[Key, _Found], moves: Moves
    ) -> None:
        for key, cuts in landed.items():
            if key in found or all(last_landed(cut.path) is None for cut in cuts):
                continue
            path = self.roots.path_of(*key)
            if path is None:
                if not self._surroundings.paths:
                    label = key[1].partition("/")[0] if key[1].startswith("@") else ""
                    self.unknown.add(f"{key[0]} {label}".strip())
            elif key in moves.taken:
                self.moved += 1
            elif self._is_wanted(path):
                self.gone += 1


def _every_root(surroundings: Surroundings, landing: LandingRoot) -> Roots:
    """Return the roots as `collect` sees them, and those that it was given before."""
    roots = surroundings.roots(landing, record=False)
    if surroundings.paths:
        return roots
    known = {(root.adapter.name, root.path) for root in roots.all}
    plugins = {plugin.adapter.name: plugin for plugin in surroundings.plugins}
    more = [
        AdapterRoot(plugins[name].key, plugins[name].adapter, path, label)
        for name, path, label in RootLabels(landing).roots()
        if name in plugins and (name, path) not in known
    ]
    return Roots([*roots.all, *more])


def _identified(source: Source, cuts: Sequence[Cut], fd: int, adapter: Adapter) -> Source:
    """Return *source* with its session: what its newest file says, else what its records say."""
    if cuts:
        header = cuts[-1].header
        return source._replace(session=header.session, stream=header.stream, batch=header.batch)
    if source.is_identified:
        return source
    tail = read_lines(fd, Cursor(), max_bytes=IDENTIFY_BYTES)
    identity = adapter.dialect.identify(source, tail.raws[:IDENTIFY_RECORDS])
    return source if identity is None else source.identified(identity)


def _reason(error: OSError | CollectordError) -> str:
    return getattr(error, "reason", "") or getattr(error, "strerror", "") or str(error)
