"""
The landing side of the pipeline: sessions, growing cuts, and what the store is told.

The order is always: bytes in the file, then the cursor in memory, then (some time) the
store. When a step fails, everything known of that session is thrown away and derived
from the disk again at the next visit: recovery is the one way back.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import structlog
from structlog.typing import FilteringBoundLogger

from collectord.adapter import NO_CONTEXT, Adapter, Source
from collectord.config import Config
from collectord.errors import CollectordError, LandedFileDiffers, SessionStopped, StateError
from collectord.landing import LandedSession, LandingRoot, OpenFile, Witness
from collectord.pipeline.convert import land_line, long_line
from collectord.pipeline.track import Track
from collectord.pipeline.writer import Abandoned, Cut, Step, Writer
from collectord.sources import Anchor, Cursor, RawRecord, Stat
from collectord.state import FileRow, SourceRow, Store

__all__ = ["Cuts", "Failed"]

log: FilteringBoundLogger = structlog.get_logger()

_SESSIONS: Final = 256
"""How many sessions without a growing cut are remembered."""

_BATCH_BYTES: Final = 1 << 20


class Failed(NamedTuple):
    """A session in which a step failed."""

    session: str
    error: Exception
    sources: tuple[Source, ...]
    """To be visited again."""


class Cuts:
    """Everything that is written below one landing root."""

    def __init__(
        self,
        root: LandingRoot,
        store: Store,
        config: Config,
        witness: Witness,
        clock_ns: Callable[[], int] = time.time_ns,
        *,
        gather: bool = False,
    ) -> None:
        """Write below *root*; with *gather*, see `Writer`."""
        self._log: FilteringBoundLogger = log.bind()  # once: it costs more than what it logs
        self.root = root
        self.tracks: dict[tuple[str, str], Track] = {}
        self._store = store
        self._config = config
        self._witness = witness
        self._clock_ns = clock_ns
        self._sessions: dict[str, LandedSession] = {}
        self._stopped: dict[str, CollectordError] = {}
        self._rows: dict[tuple[str, str], SourceRow] = {}
        self._files: list[FileRow] = []
        self._writer = Writer(
            sync_appends=config.landing.fsync == "append",
            closing_line=config.landing.closing_line,
            gather=gather,
        )
        self._failed: list[Failed] = []
        self._lost: dict[str, dict[tuple[str, str], Source]] = {}
        """By session: the sources of steps that were not taken."""
        self._names: dict[tuple[int, int], tuple[str, str]] = {}
        self.unknown_members = 0
        """Members that a dialect did not describe, since the start."""

    def session(self, name: str) -> LandedSession:
        """
        Return a session ready to be written to; it is recovered when it is first asked for.

        Raises:
            SessionStopped, LandedFileDiffers: It must not be written to any more.
            NameRefused: Its id cannot be a folder's name.
            OSError: Recovery failed; it is tried again at the next call.
        """
        if name in self._stopped:
            raise self._stopped[name]
        found = self._sessions.pop(name, None)
        if found is None:
            self.reap(lambda step: step.cut.session.session == name)
            known = max(
                self._store.known_seq(name),
                max((row.seq for row in self._files if row.session == name), default=0),
            )
            found = LandedSession(self.root, name, self._witness, known_seq=known)
            for one in found.recovered:
                self._log.info(
                    "file.recovered",
                    session=name,
                    src=one.file.header.src,
                    seq=one.file.seq,
                    cut_bytes=one.cut_bytes,
                    proven=one.proven,
                )
        self._sessions[name] = found
        self._forget_idle_sessions()
        return found

    def adopt(self, track: Track, adapter: Adapter) -> None:
        """Take over what recovery left open of the track's source."""
        source = track.source
        older, newest = track.session.take_open(source.adapter, source.src)
        for file in older:
            self._writer.seal(_cut_of(track.session, source, file))
        if newest is None:
            return
        header = newest.file.header
        same = (
            header.adapter == f"{adapter.name}/{adapter.version}"
            and header.dialect == adapter.dialect.name
            and (header.session, header.stream, header.batch)
            == (source.session, source.stream, source.batch)
            and newest.file.seq >= track.last_seq  # else it was moved away and back since
        )
        if newest.proven and same:
            track.cut = _cut_of(track.session, source, newest.file)
            track.context = newest.context
        else:
            self._writer.seal(_cut_of(track.session, source, newest.file))

    def land(
        self, track: Track, raws: Sequence[RawRecord], cursor: Cursor, adapter: Adapter
    ) -> int:
        """
        Hand *raws* to the track's cut, sealing and opening files as they fill.

        Returns how many of them were new. The track goes on to *cursor* in memory; where the
        writer fails, `reap` gives the session up, and the disk says how far it came.

        Raises:
            Abandoned: The session was given up; `take_failures` says why.
            OSError, CollectordError: The session must be given up with `give_up`.
        """
        lines = bytearray()
        held = landed = 0
        last: RawRecord | None = None
        source, dialect, seen = track.source, adapter.dialect, track.seen
        convert_bytes = self._config.limits.convert_bytes
        max_file_bytes = self._config.landing.max_file_bytes
        room = max_file_bytes - track.cut.size if track.cut is not None else max_file_bytes
        for raw in raws:
            if seen is not None:
                if raw.sha in seen.get(raw.ord, ()):
                    continue
                seen.setdefault(raw.ord, set()).add(raw.sha)
            if track.cut is None:
                self._open(track, adapter)
            last = raw
            landed += 1
            if raw.data is not None:
                context, unknown = land_line(lines, raw, source, dialect, track.context)
                track.context = context
                self.unknown_members += unknown
                held += 1
                size = len(lines)
                if size < _BATCH_BYTES and size < room:
                    continue
            self._append(track, lines, held)
            lines, held = bytearray(), 0
            assert track.cut is not None
            if raw.data is None:
                pieces = long_line(track.fd, raw, convert_bytes)
                self._writer.append_pieces(track.cut, pieces)
            room = max_file_bytes - track.cut.size
            if room <= 0:
                self.seal(track)
                room = max_file_bytes
        self._append(track, lines, held)
        if last is not None:
            track.last = Anchor.of(last)
        track.read(list(raws), cursor)
        self.reap()
        if track.session.is_broken:
            raise Abandoned
        return landed

    def seal(self, track: Track) -> None:
        """Close the track's cut for good, when it has one; `take_failures` tells how it went."""
        if track.cut is not None:
            self._writer.seal(track.cut)
            track.cut = None
            track.context = NO_CONTEXT

    def release(self, track: Track) -> None:
        """Seal the track's cut and forget the track; its row tells the next start to skip it."""
        self.seal(track)
        self.note(track)
        self.drop(track)

    def drop(self, track: Track) -> None:
        """Forget the track."""
        track.close()
        self.tracks.pop(track.key, None)

    def give_up(self, session: str, error: Exception) -> None:
        """
        Forget everything known of a session after a step failed; the disk tells it again.

        `take_failures` has the sources to visit again.
        """
        known = self._sessions.pop(session, None)
        if known is not None:
            known.is_broken = True
        self.reap(lambda step: step.cut.session.session == session)
        lost = self._lost.pop(session, {})
        for track in [t for t in self.tracks.values() if t.source.session == session]:
            lost[track.key] = track.source
            if track.cut is not None:
                track.cut.close()
            self.drop(track)
        for key in [key for key, row in self._rows.items() if row.session == session]:
            del self._rows[key]
        for one in known.recovered if known is not None else ():
            one.file.close()
        if isinstance(error, LandedFileDiffers | SessionStopped):
            self._stopped[session] = error
            self._log.error("session.stopped", session=session, reason=str(error))
        self._failed.append(Failed(session, error, tuple(lost.values())))

    def seal_orphans(self) -> None:
        """Seal what recovery left open of sources that are no longer collected."""
        for session in list(self._sessions.values()):
            orphans, session.recovered = session.recovered, []
            for one in orphans:
                self._writer.seal(_cut_of(session, None, one.file))

    def note(self, track: Track) -> None:
        """Remember the track's row for the next `commit`, unless its session was given up."""
        if track.session.is_broken:
            return
        source = track.source
        self._rows[track.key] = SourceRow(
            *track.key,
            source.session,
            source.stream,
            source.batch,
            source.kind,
            track.stat,
            track.last,
            track.last_seq,
            track.cut is None,
            track.pending_bytes,
            False,
            track.generation,
        )
        if track.stat is not None:
            self._names[track.stat[:2]] = track.key

    def names_of(self, stat: Stat) -> list[tuple[str, str]]:
        """Return the (adapter, src) that this device and inode were last seen under."""
        here = self._names.get(stat[:2])
        return [row.key for row in self._store.same_file(stat)] + ([here] if here else [])

    def note_row(self, row: SourceRow) -> None:
        """Remember *row* for the next `commit`."""
        self._rows[row.key] = row

    def row(self, adapter: str, src: str) -> SourceRow | None:
        """Return what is remembered of a source."""
        return self._rows.get((adapter, src)) or self._store.source(adapter, src)

    def commit(self) -> None:
        """
        Tell the store what happened since the last time; a failure loses a cache only.

        The writer is waited for: a row says that its source's records are on the disk.
        """
        self.reap(lambda _step: True)
        if not self._rows and not self._files:
            return
        try:
            self._store.commit(self._rows.values(), self._files)
        except StateError as error:
            self._log.warning("state.failed", reason=str(error))
            return
        self._rows.clear()
        self._files.clear()

    def reap(self, wanted: Callable[[Step], bool] | None = None) -> None:
        """Wait for the *wanted* steps, and take note of all that were taken; failures are kept."""
        broken: dict[str, Exception] = {}
        for step in list(self._writer.done(wanted)):
            error = step.done.exception()
            session = step.cut.session.session
            if error is None:
                if step.sealed is not None:
                    self._note_sealed(step.cut, *step.sealed)
                continue
            source = step.cut.source
            if source is not None:
                self._lost.setdefault(session, {})[source.adapter, source.src] = source
            if not isinstance(error, OSError | CollectordError | Abandoned):
                raise error
            if not isinstance(error, Abandoned):
                broken.setdefault(session, error)
        for session, failure in broken.items():
            self.give_up(session, failure)

    def take_failures(self) -> list[Failed]:
        """Return the sessions in which a step failed since the last time."""
        failed, self._failed = self._failed, []
        return failed

    def close(self) -> None:
        """Wait for the writer, give every descriptor back, and end the threads."""
        try:
            self.reap(lambda _step: True)
        finally:
            self._writer.close()
            for track in list(self.tracks.values()):
                if track.cut is not None:
                    track.cut.close()
                track.close()

    def _note_sealed(self, cut: Cut, path: Path, digest: str) -> None:
        cut.session.sealed(cut.path, path)
        header = cut.header
        assert cut.file is not None
        self._files.append(
            FileRow(
                header.session,
                cut.seq,
                path.relative_to(self.root.path).as_posix(),
                header.adapter.partition("/")[0],
                header.src,
                cut.file.records,
                cut.file.size,
                digest,
            )
        )
        self._log.info(
            "file.sealed",
            session=header.session,
            src=header.src,
            seq=cut.seq,
            records=cut.file.records,
            bytes=cut.file.size,
        )

    def _open(self, track: Track, adapter: Adapter) -> None:
        next_file = track.session.next_file(
            track.source,
            adapter=f"{adapter.name}/{adapter.version}",
            dialect=adapter.dialect.name,
            now_ns=self._clock_ns(),
        )
        track.cut = Cut(track.session, track.source, next_file.header, next_file.path)
        track.context = NO_CONTEXT
        track.last_seq = track.cut.seq
        self._writer.create(track.cut, next_file.create)
        self._log.debug(
            "file.opened",
            src=track.source.src,
            session=track.session.session,
            seq=track.last_seq,
        )

    def _append(self, track: Track, lines: bytearray, records: int) -> None:
        if lines:
            assert track.cut is not None
            self._writer.append(track.cut, lines, records)

    def _forget_idle_sessions(self) -> None:
        if len(self._sessions) <= _SESSIONS + _SESSIONS // 4:
            return
        busy = {track.source.session for track in self.tracks.values()}
        for name, session in list(self._sessions.items())[:-1]:
            if len(self._sessions) <= _SESSIONS:
                break
            if name not in busy and not session.recovered:
                del self._sessions[name]


def _cut_of(session: LandedSession, source: Source | None, file: OpenFile) -> Cut:
    """Return the cut of an open file that recovery left."""
    return Cut(session, source, file.header, file.path, file)
