"""
Take a source in that is not tracked yet: which session it is, and where reading goes on.

A file that is already collected under another name (a link) is that source. One whose
session cannot be told, or whose names cannot be paths, is refused with a note.
"""

import os

import structlog
from structlog.typing import FilteringBoundLogger

from collectord.adapter import IDENTIFY_BYTES, IDENTIFY_RECORDS, Adapter, Identity, Source
from collectord.errors import NameRefused
from collectord.pipeline.cuts import Cuts
from collectord.pipeline.resume import resume
from collectord.pipeline.roots import Roots
from collectord.pipeline.track import Track
from collectord.sources import Cursor, Stat, read_lines
from collectord.state import SourceRow

__all__ = ["Admission"]

log: FilteringBoundLogger = structlog.get_logger()

_UNIDENTIFIED = "its first records do not say which session it belongs to"


class Admission:
    """Makes tracks."""

    def __init__(self, cuts: Cuts, roots: Roots) -> None:
        self._log: FilteringBoundLogger = log.bind()  # once: it costs more than what it logs
        self._cuts = cuts
        self._roots = roots
        self._identities: dict[tuple[str, str], Identity] = {}

    def other_name(self, source: Source, now: Stat, *, is_known: bool) -> Source | None:
        """
        Return the source under which this very file is collected already, by a link's other name.

        Of two names that are both known (they were two files once) the lesser is the one.
        """
        mine = (source.adapter, source.src)
        for name in self._cuts.names_of(now):
            path = self._roots.path_of(*name)
            if path is None or path == source.path or name == mine or (is_known and name > mine):
                continue
            try:
                there = path.stat()
            except OSError:
                continue
            if (there.st_dev, there.st_ino) == (now.dev, now.ino):
                return self._roots.source_at(path)
        return None

    def admit(
        self, source: Source, fd: int, row: SourceRow | None, adapter: Adapter
    ) -> Track | str:
        """
        Return the track of *source*, or why it is refused. Owns *fd* from now on.

        Raises:
            OSError, CollectordError: See `Cuts.session`.
        """
        try:
            identified = self._identified(source, fd, adapter)
            if identified is None:
                os.close(fd)
                self._note(source, _UNIDENTIFIED)
                self._log.debug("source.unidentified", src=source.src)
                return _UNIDENTIFIED
            session = self._cuts.session(identified.session)
            folder = session.folder_of(identified)  # refuses a name before anything is written
            if session.files_of(*identified[:2]) or session.neighbours(identified):
                # They will be read, so none may be on its way to another name.
                self._cuts.reap(lambda step: step.cut.path.parent == folder)
            if session.is_broken:
                self._cuts.reap(lambda step: step.cut.session is session)
                session = self._cuts.session(identified.session)
            track = resume(identified, session, fd, row, self._roots)
        except NameRefused as error:
            os.close(fd)
            self._note(source, str(error))
            self._log.warning("source.refused", src=source.src, reason=str(error))
            return str(error)
        except BaseException:
            os.close(fd)
            raise
        self._cuts.tracks[track.key] = track
        self._cuts.adopt(track, adapter)
        if row is None:
            self._log.debug("source.found", src=source.src, session=identified.session)
        return track

    def _identified(self, source: Source, fd: int, adapter: Adapter) -> Source | None:
        if source.is_identified:
            return source
        key = (source.adapter, source.src)
        known = self._identities.get(key)
        if known is None:
            tail = read_lines(fd, Cursor(), max_bytes=IDENTIFY_BYTES)
            known = adapter.dialect.identify(source, tail.raws[:IDENTIFY_RECORDS])
            if known is None:
                return None
            self._identities[key] = known
        return source.identified(known)

    def _note(self, source: Source, note: str) -> None:
        self._cuts.note_row(
            SourceRow(
                source.adapter,
                source.src,
                source.session,
                source.stream,
                source.batch,
                source.kind,
                None,
                None,
                note=note,
            )
        )
