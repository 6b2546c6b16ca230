"""
The landing side of the pipeline: sessions, growing cuts, and what the store is told.

The order is always: bytes in the file, then the cursor in memory, then (some time) the
store. When a step fails, everything known of that session is thrown away and derived
from the disk again at the next visit: recovery is the one way back.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from typing import Final

import structlog
from structlog.typing import FilteringBoundLogger

from collectord.adapter import NO_CONTEXT, Adapter
from collectord.config import Config
from collectord.errors import CollectordError, LandedFileDiffers, SessionStopped, StateError
from collectord.landing import LandedSession, LandingRoot, OpenFile, Witness
from collectord.pipeline.convert import landed_line, long_line
from collectord.pipeline.seals import Seal, Seals
from collectord.pipeline.track import Track
from collectord.sources import Anchor, Cursor, RawRecord, Stat
from collectord.state import FileRow, SourceRow, Store

__all__ = ["Cuts"]

log: FilteringBoundLogger = structlog.get_logger()

_SESSIONS: Final = 256
"""How many sessions without a growing cut are remembered."""

_BATCH_BYTES: Final = 1 << 20


class Cuts:
    """Everything that is written below one landing root."""

    def __init__(
        self,
        root: LandingRoot,
        store: Store,
        config: Config,
        witness: Witness,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
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
        self._seals = Seals()
        self._failed: list[tuple[str, OSError | CollectordError]] = []
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
            self.finish_seals(lambda seal: seal.session.session == name)
            known = max(
                self._store.known_seq(name),
                max((row.seq for row in self._files if row.session == name), default=0),
            )
            found = LandedSession(self.root, name, self._witness, known_seq=known)
            for one in found.recovered:
                log.info(
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
            self._seal_file(track.session, file)
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
            track.file, track.context = newest.file, newest.context
        else:
            self._seal_file(track.session, newest.file)

    def land(
        self, track: Track, raws: Sequence[RawRecord], cursor: Cursor, adapter: Adapter
    ) -> int:
        """
        Append *raws* to the track's cut, sealing and opening files as they fill.

        Returns how many of them were new. Only when all are in a file does the track go on
        to *cursor*.

        Raises:
            OSError, CollectordError: The session must be given up with `give_up`.
        """
        try:
            landed = self._land(track, raws, adapter)
        finally:
            if track.opening is not None:
                wait([track.opening])
        track.read(list(raws), cursor)
        return landed

    def _land(self, track: Track, raws: Sequence[RawRecord], adapter: Adapter) -> int:
        lines: list[bytes] = []
        size = landed = 0
        last: RawRecord | None = None
        convert_bytes = self._config.limits.convert_bytes
        max_file_bytes = self._config.landing.max_file_bytes
        for raw in raws:
            if track.seen is not None:
                if raw.sha in track.seen.get(raw.ord, ()):
                    continue
                track.seen.setdefault(raw.ord, set()).add(raw.sha)
            if track.file is None and track.opening is None:
                self._open(track, adapter)
            line = landed_line(raw, track.source, adapter.dialect, track.context)
            self.unknown_members += line.unknown_members
            if line.data is None:
                self._append(track, lines)
                self._file(track).append_pieces(long_line(track.fd, raw, convert_bytes))
                size = 0
            else:
                lines.append(line.data)
                size += len(line.data)
            track.context = line.context
            last = raw
            landed += 1
            if size + (track.file.size if track.file is not None else 0) >= max_file_bytes:
                self._append(track, lines)
                self.seal(track)
                size = 0
            elif size >= _BATCH_BYTES:
                self._append(track, lines)
                size = 0
        self._append(track, lines)
        if last is not None:
            track.last = Anchor.of(last)
        return landed

    def seal(self, track: Track) -> None:
        """Close the track's cut for good, when it has one; `finish_seals` tells how it went."""
        if track.file is not None:
            file, track.file = track.file, None
            track.context = NO_CONTEXT
            self._seal_file(track.session, file)

    def release(self, track: Track) -> None:
        """Seal the track's cut and forget the track; its row tells the next start to skip it."""
        self.seal(track)
        self.note(track)
        self.drop(track)

    def drop(self, track: Track) -> None:
        """Forget the track."""
        track.close()
        self.tracks.pop(track.key, None)

    def give_up(self, session: str, error: BaseException) -> None:
        """Forget everything known of a session after a step failed; the disk tells it again."""
        self.finish_seals(lambda seal: seal.session.session == session)
        for track in [t for t in self.tracks.values() if t.source.session == session]:
            self.drop(track)
        for key in [key for key, row in self._rows.items() if row.session == session]:
            del self._rows[key]
        known = self._sessions.pop(session, None)
        if known is not None:
            for one in known.recovered:
                one.file.close()
        if isinstance(error, LandedFileDiffers | SessionStopped):
            self._stopped[session] = error
            log.error("session.stopped", session=session, reason=str(error))

    def seal_orphans(self) -> None:
        """Seal what recovery left open of sources that are no longer collected."""
        for session in list(self._sessions.values()):
            orphans, session.recovered = session.recovered, []
            for one in orphans:
                self._seal_file(session, one.file)

    def note(self, track: Track) -> None:
        """Remember the track's row for the next `commit`."""
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
            track.file is None,
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

        Seals are waited for: a row says that its source's records are durable.
        """
        self.finish_seals(lambda _seal: True)
        if not self._rows and not self._files:
            return
        try:
            self._store.commit(self._rows.values(), self._files)
        except StateError as error:
            log.warning("state.failed", reason=str(error))
            return
        self._rows.clear()
        self._files.clear()

    def finish_seals(self, wanted: Callable[[Seal], bool] | None = None) -> None:
        """Wait for the *wanted* seals, and take note of all that are done; failures are kept."""
        for seal in list(self._seals.done(wanted)):
            name = seal.session.session
            try:
                path, digest = seal.future.result()
            except (OSError, CollectordError) as error:
                self._failed.append((name, error))
                self.give_up(name, error)
                continue
            seal.session.sealed(seal.file.path, path)
            file, header = seal.file, seal.file.header
            self._files.append(
                FileRow(
                    name,
                    file.seq,
                    path.relative_to(self.root.path).as_posix(),
                    header.adapter.partition("/")[0],
                    header.src,
                    file.records,
                    file.size,
                    digest,
                )
            )
            log.info(
                "file.sealed",
                session=name,
                src=header.src,
                seq=file.seq,
                records=file.records,
                bytes=file.size,
            )

    def take_failures(self) -> list[tuple[str, OSError | CollectordError]]:
        """Return (session, why) of the seals that failed since the last time."""
        failed, self._failed = self._failed, []
        return failed

    def close(self) -> None:
        """Wait for what is being sealed, and end the threads."""
        try:
            self.finish_seals(lambda _seal: True)
        finally:
            self._seals.close()

    def _open(self, track: Track, adapter: Adapter) -> None:
        step = track.session.next_file(
            track.source,
            adapter=f"{adapter.name}/{adapter.version}",
            dialect=adapter.dialect.name,
            now_ns=self._clock_ns(),
        )
        track.opening = self._seals.beside(step)
        track.context = NO_CONTEXT

    def _file(self, track: Track) -> OpenFile:
        """Return the track's growing file, once it is durably there."""
        if track.opening is not None:
            opening, track.opening = track.opening, None
            track.file = track.session.opened(opening.result())
            track.last_seq = track.file.seq
            log.debug(
                "file.opened",
                src=track.source.src,
                session=track.session.session,
                seq=track.file.seq,
            )
        assert track.file is not None
        return track.file

    def _append(self, track: Track, lines: list[bytes]) -> None:
        if lines:
            file = self._file(track)
            file.append(b"".join(lines), records=len(lines))
            if self._config.landing.fsync == "append":
                file.sync()
            lines.clear()

    def _seal_file(self, session: LandedSession, file: OpenFile) -> None:
        self._seals.begin(session, file, closing_line=self._config.landing.closing_line)
        self.finish_seals()

    def _forget_idle_sessions(self) -> None:
        if len(self._sessions) <= _SESSIONS:
            return
        busy = {track.source.session for track in self.tracks.values()}
        for name, session in list(self._sessions.items())[:-1]:
            if len(self._sessions) <= _SESSIONS:
                break
            if name not in busy and not session.recovered:
                del self._sessions[name]
