"""
Visit a source: read what it gained, convert it, land it.

Synchronous, and called from one thread at a time; the daemon's loop and the one-pass
command both drive it. A visit reads a bounded slice, so no source delays the others.

Source: docs/format.md, "Sources".
"""

import os
import time
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

import structlog
from structlog.typing import FilteringBoundLogger

from collectord.adapter import Adapter, Reader, Source
from collectord.config import Config
from collectord.errors import CollectordError, SourceGone, SourceRefused, SourceUnexpected
from collectord.landing import LandedFile, LandedSession, read_header
from collectord.pipeline.admission import Admission
from collectord.pipeline.cuts import Cuts
from collectord.pipeline.outcome import UNCHANGED, Outcome
from collectord.pipeline.resume import chain_set, history
from collectord.pipeline.roots import Roots
from collectord.pipeline.track import Track
from collectord.pipeline.writer import Abandoned
from collectord.sources import (
    READ_BUDGET_BYTES,
    Cursor,
    Stat,
    Tail,
    first_broken,
    open_source,
    read_document,
    read_lines,
)
from collectord.state import SourceRow

__all__ = ["Collector"]

log: FilteringBoundLogger = structlog.get_logger()

VERSION_EVERY_S: Final = 1.0
"""At most one version of a document lands in this time."""

_VERSIONS: Final = 256


class Collector:
    """Turns sources into landed records, one visit at a time."""

    def __init__(self, cuts: Cuts, roots: Roots, config: Config, *, max_tracks: int = 256) -> None:
        """Follow at most *max_tracks* sources at a time: each holds two descriptors."""
        self.cuts = cuts
        self.roots = roots
        self._config = config
        self._max_tracks = max_tracks
        self._versions: dict[tuple[str, str], float] = {}
        self._admission = Admission(cuts, roots)

    def visit(self, source: Source, *, final: bool = False) -> Outcome:
        """
        Land what *source* has gained, one slice of it.

        Args:
            source: As an adapter located it.
            final: The source is finished: what follows its last newline is a record.

        Raises:
            OSError: The source cannot be read now, or the landing root not be written;
                nothing was lost, and the visit can be repeated. What fails later, while it is
                written, `Cuts.take_failures` tells.
            SourceUnexpected: A fault of ours or of a plug-in; the other sources go on.
            CollectordError: The session of the source is stopped.
        """
        try:
            return self._visit(source, final=final)
        except Abandoned:
            return Outcome()

    def _visit(self, source: Source, *, final: bool) -> Outcome:
        key = (source.adapter, source.src)
        track = self.cuts.tracks.get(key)
        adapter = self.roots.adapter(source.adapter)
        assert adapter is not None
        try:
            now = Stat.of(source.path.stat())
        except (FileNotFoundError, NotADirectoryError):
            return self._gone(source, track, adapter)
        row = self.cuts.row(*key) if track is None else None
        if _is_unchanged(track, row, now, final=final):
            return UNCHANGED
        if track is None:
            other = self._admission.other_name(source, now, is_known=row is not None)
            if other is not None:
                return self._visit(other, final=final)
        try:
            fd = open_source(source.path)
        except SourceGone:
            return self._gone(source, track, adapter)
        except SourceRefused as error:
            return Outcome(note=error.reason)
        session = track.source.session if track is not None else source.session
        try:
            if track is None:
                self._leave_old_paths(source, adapter)
                admitted = self._admission.admit(source, fd, row, adapter)
                if isinstance(admitted, str):
                    return Outcome(note=admitted)
                track = admitted
                session = track.source.session
                self._make_room(track)
                known = row.stat if row is not None else None
            else:
                known = track.checked
                self.cuts.tracks[key] = self.cuts.tracks.pop(key)  # the latest last
                self._take_descriptor(track, fd, adapter)
            return self._read(track, known, adapter, final=final)
        except Abandoned:
            raise
        except (OSError, CollectordError) as error:
            self.cuts.give_up(session, error)
            raise
        except Exception as error:
            # The per-source boundary: one source's surprise must not end the others.
            self.cuts.give_up(session, error)
            raise SourceUnexpected(source.path, error) from error

    def backfill(self, source: Source) -> Outcome:
        """Visit a source that a walk found; one that has been quiet for long is sealed at once."""
        outcome = self.visit(source)
        track = self.cuts.tracks.get((source.adapter, source.src))
        if track is not None and track.stat is not None and not outcome.more:
            quiet_s = time.time() - track.stat.mtime_ns / 1e9
            if quiet_s > self._config.landing.seal_after_idle_s:
                self._release(track)
        return outcome

    def settled(self, source: Source) -> None:
        """Seal the cut of *source* and forget it: it has been read to its end in a single pass."""
        track = self.cuts.tracks.get((source.adapter, source.src))
        if track is not None:
            self._release(track)

    def seal_due(self, now_s: float) -> float:
        """
        Seal the cuts that are idle or old at *now_s* (monotonic); return when to look again.

        How the seals went, `Cuts.take_failures` tells.
        """
        landing = self._config.landing
        soonest = landing.seal_after_idle_s
        for track in list(self.cuts.tracks.values()):
            cut = track.cut
            if cut is None:
                continue
            idle_at = cut.touched_at_s + landing.seal_after_idle_s
            left = min(idle_at, cut.opened_at_s + landing.seal_after_age_s) - now_s
            if left <= 0:
                self._release(track)
            else:
                soonest = min(soonest, left)
        return soonest

    def seal_all(self) -> Iterator[Exception]:
        """Seal every growing cut; yield what went wrong, and go on."""
        for track in list(self.cuts.tracks.values()):
            try:
                self._release(track)
            except (OSError, CollectordError) as error:
                yield error
        self.cuts.reap(lambda _step: True)
        yield from (failed.error for failed in self.cuts.take_failures())

    def recover_open(self) -> Iterator[OSError | CollectordError]:
        """Recover every session that has an open file, so that none is forgotten."""
        for folder in self.cuts.root.sessions():
            left = self.cuts.root.first_open(folder)
            if left is None:
                continue
            try:
                header = read_header(left)
                self.cuts.session(header.session if header is not None else unquote(folder.name))
            except (OSError, CollectordError) as error:
                yield error

    def _release(self, track: Track) -> None:
        try:
            self.cuts.release(track)
        except (OSError, CollectordError) as error:
            self.cuts.give_up(track.source.session, error)
            raise

    def _make_room(self, newest: Track) -> None:
        """Seal what was visited longest ago, when too many sources are followed."""
        while len(self.cuts.tracks) > self._max_tracks:
            oldest = next(iter(self.cuts.tracks.values()))
            if oldest is newest:
                break
            self._release(oldest)

    def _take_descriptor(self, track: Track, fd: int, adapter: Adapter) -> None:
        """Go on with *fd*; where it is another file than the held one, finish that first."""
        try:
            if Stat.of(os.fstat(fd))[:2] != Stat.of(os.fstat(track.fd))[:2]:
                self._drain(track, adapter)
        except BaseException:
            os.close(fd)
            raise
        os.close(track.fd)
        track.fd = fd

    def _leave_old_paths(self, source: Source, adapter: Adapter) -> None:
        """Finish paths of the same stream that are gone: *source* may be what was moved from there."""
        for other in list(self.cuts.tracks.values()):
            if (
                other.source.adapter == source.adapter
                and other.source.kind == source.kind
                and other.source.stream == source.stream
                and other.source.session == (source.session or other.source.session)
                and not os.path.lexists(other.source.path)
            ):
                self._gone(other.source, other, adapter)

    def _gone(self, source: Source, track: Track | None, adapter: Adapter) -> Outcome:
        """Seal what was collected of a source whose path is no longer there."""
        if track is not None:
            try:
                self._drain(track, adapter)
                track.stat = None
                self.cuts.release(track)
            except (OSError, CollectordError) as error:
                self.cuts.give_up(track.source.session, error)
                raise
        row = self.cuts.row(source.adapter, source.src)
        if row is not None and not row.gone:
            self.cuts.note_row(row._replace(gone=True, stat=None))
            log.info("source.gone", src=source.src, session=row.session)
        return UNCHANGED

    def _drain(self, track: Track, adapter: Adapter) -> None:
        """Read what the held descriptor still has: its path names another file now, or none."""
        if track.source.reader is not Reader.LINES or track.is_broken():
            return
        deleted = os.fstat(track.fd).st_nlink == 0
        more = True
        while more and track.settle() and not track.unended:
            tail = self._next_lines(track, final=deleted)
            self.cuts.land(track, tail.raws, tail.cursor, adapter)
            more = tail.more

    def _read(self, track: Track, known: Stat | None, adapter: Adapter, *, final: bool) -> Outcome:
        now = Stat.of(os.fstat(track.fd))
        if track.source.reader is Reader.DOCUMENT:
            return self._read_document(track, now, adapter, final=final)
        if track.head:
            self._check(track, known, now)
        track.checked = now
        if not track.settle():
            self._start_generation(track)
        before = track.cursor.off
        if track.unended:
            tail = Tail([], track.cursor, False, 0)
        else:
            tail = self._next_lines(track, final=final)
        landed = self.cuts.land(track, tail.raws, tail.cursor, adapter)
        if final and not tail.more:
            track.unended = not _ends_line(track)
        track.pending_bytes = tail.pending_bytes
        track.scanned_to = tail.cursor.off + tail.pending_bytes
        track.stat = None if tail.more else now
        self.cuts.note(track)
        return Outcome(landed, tail.cursor.off - before, tail.more)

    def _next_lines(self, track: Track, *, final: bool) -> Tail:
        return read_lines(
            track.fd,
            track.cursor,
            max_bytes=READ_BUDGET_BYTES,
            convert_bytes=self._config.limits.convert_bytes,
            final=final,
            scanned_to=track.scanned_to,
        )

    def _check(self, track: Track, known: Stat | None, now: Stat) -> None:
        """Start a generation when bytes that were landed are no longer where they were."""
        if known == now:
            return  # the next slice of one read
        if known is not None and now.size > known.size:
            if track.is_broken():
                self._start_generation(track)
        elif track.seen is not None:
            track.start_over(track.seen)  # read it all again: what was seen does not land twice
        else:
            links = LandedSession.chain_of(self._landed(track))
            if first_broken(track.fd, links) is not None:
                self._start_generation(track)

    def _start_generation(self, track: Track) -> None:
        self.cuts.seal(track)
        track.generation += 1
        log.warning(
            "source.rewritten",
            src=track.source.src,
            session=track.source.session,
            generation=track.generation,
        )
        track.start_over(chain_set(self._landed(track)))

    def _landed(self, track: Track) -> list[LandedFile]:
        """Return the files of the track's source, none of which is being renamed."""
        folder = track.session.folder_of(track.source)
        self.cuts.reap(lambda step: step.cut.path.parent == folder)
        if track.session.is_broken:
            raise Abandoned
        return history(track.source, track.session, track.fd, self.roots)

    def _read_document(self, track: Track, now: Stat, adapter: Adapter, *, final: bool) -> Outcome:
        key = track.key
        since = time.monotonic() - self._versions.get(key, -VERSION_EVERY_S)
        if since < VERSION_EVERY_S and not final:
            self.cuts.drop(track)
            return Outcome(again_s=VERSION_EVERY_S - since)
        version = read_document(
            track.fd, convert_bytes=self._config.limits.convert_bytes, final=final
        )
        track.pending_bytes = version.pending_bytes
        raw = version.raw
        landed = 0
        if raw is not None and not _is_last(track, raw.size, raw.sha):
            landed = self.cuts.land(track, [raw], Cursor(1, raw.size), adapter)
            self._note_version(key)
        track.stat = now if raw is not None or version.wait_s == 0 else None
        self.cuts.release(track)
        read = raw.size if landed and raw is not None else 0
        return Outcome(landed, read, again_s=version.wait_s)

    def _note_version(self, key: tuple[str, str]) -> None:
        """Remember when a version landed, as long as that matters."""
        now = time.monotonic()
        if len(self._versions) >= _VERSIONS:
            self._versions = {
                k: at for k, at in self._versions.items() if now - at < VERSION_EVERY_S
            }
        self._versions[key] = now


def _is_unchanged(track: Track | None, row: SourceRow | None, now: Stat, *, final: bool) -> bool:
    if track is not None:
        return track.stat == now and not (final and track.pending_bytes)
    if row is None or row.stat != now or row.gone:
        return False
    # A growing cut is not yet durable, so only a sealed one speaks for its source.
    return row.sealed and not (final and row.pending_bytes)


def _ends_line(track: Track) -> bool:
    """Return whether the byte before the cursor is a newline."""
    return track.cursor.off == 0 or os.pread(track.fd, 1, track.cursor.off - 1) == b"\n"


def _is_last(track: Track, size: int, sha: str) -> bool:
    return track.last is not None and track.last.size == size and track.last.sha.startswith(sha)
