"""
The state store: caches in one SQLite file in the user's state directory.

It can be deleted at any time: everything in it is rebuilt from the landing root and
the sources, and nothing is landed twice. So a damaged one is moved aside, one of
another root is emptied, and a write is never waited for before a record lands.

Source: docs/decisions/0003-state-is-a-cache.md.
"""

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import structlog
from structlog.typing import FilteringBoundLogger

from collectord.errors import StateError, StateTooNew
from collectord.sources import Anchor, Stat
from collectord.state.rows import FileRow, SourceRow

__all__ = ["VERSION", "Store", "store_path"]

log: FilteringBoundLogger = structlog.get_logger()

VERSION: Final = 1
_BUSY_MS: Final = 5000

_SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sources (
  adapter TEXT NOT NULL, src TEXT NOT NULL,
  session TEXT NOT NULL, stream TEXT NOT NULL, batch TEXT NOT NULL, kind TEXT NOT NULL,
  dev TEXT, ino TEXT, size INTEGER, mtime_ns INTEGER, ctime_ns INTEGER,
  last_ord INTEGER, last_off INTEGER, last_size INTEGER, last_sha TEXT,
  seq INTEGER NOT NULL, sealed INTEGER NOT NULL, pending_bytes INTEGER NOT NULL,
  gone INTEGER NOT NULL, generation INTEGER NOT NULL, note TEXT NOT NULL,
  PRIMARY KEY (adapter, src)
) WITHOUT ROWID;
CREATE INDEX sources_inode ON sources (ino, dev);
CREATE TABLE sessions (session TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
  session TEXT NOT NULL, seq INTEGER NOT NULL, path TEXT NOT NULL,
  adapter TEXT NOT NULL, src TEXT NOT NULL,
  records INTEGER NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;
"""


def store_path(state_dir: Path, root: Path) -> Path:
    """Return where the store of a landing root is: one file a root."""
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]
    return state_dir / f"{name}.db"


class Store:
    """The open store; used from one thread at a time."""

    def __init__(self, path: Path, root_id: str, *, read_only: bool = False) -> None:
        """
        Open or create the store of the root called *root_id*.

        Raises:
            StateTooNew: A newer version wrote it; nothing is changed.
            StateError: It cannot be opened.
        """
        self.path = path
        try:
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = _opened(path, read_only=read_only)
            self._check(root_id, read_only=read_only)
        except (sqlite3.DatabaseError, OSError) as error:
            if read_only or (isinstance(error, sqlite3.OperationalError) and _is_busy(error)):
                raise StateError(f"{path}: cannot be used: {error}") from error
            with contextlib.suppress(Exception):
                self._db.close()
            _move_aside(path, str(error))
            try:
                self._db = _opened(path, read_only=False)
                self._check(root_id, read_only=False)
            except (sqlite3.DatabaseError, OSError) as again:
                raise StateError(f"{path}: cannot be created: {again}") from again

    def close(self) -> None:
        """Close the store."""
        self._db.close()

    def source(self, adapter: str, src: str) -> SourceRow | None:
        """Return what is remembered of a source."""
        if self._is_empty:
            return None
        found = self._db.execute(
            "SELECT * FROM sources WHERE adapter = ? AND src = ?", (adapter, src)
        ).fetchone()
        return _source_row(found) if found else None

    def sources(self) -> Iterator[SourceRow]:
        """Yield every source, in order of adapter and src."""
        for found in self._db.execute("SELECT * FROM sources ORDER BY adapter, src"):
            yield _source_row(found)

    def same_file(self, stat: Stat) -> list[SourceRow]:
        """Return the sources that were last seen with this device and inode."""
        if self._is_empty:
            return []
        found = self._db.execute(
            "SELECT * FROM sources WHERE ino = ? AND dev = ? AND NOT gone",
            (str(stat.ino), str(stat.dev)),
        )
        return [_source_row(row) for row in found.fetchall()]

    def known_seq(self, session: str) -> int:
        """Return the highest number of *session* that was sealed; 0 when none is known."""
        if self._is_empty:
            return 0
        found = self._db.execute(
            "SELECT seq FROM sessions WHERE session = ?", (session,)
        ).fetchone()
        return int(found[0]) if found else 0

    def files(self, session: str | None = None) -> Iterator[FileRow]:
        """Yield the sealed files (of one session), in order of session and seq."""
        where, values = ("WHERE session = ?", (session,)) if session is not None else ("", ())
        for found in self._db.execute(
            f"SELECT * FROM files {where} ORDER BY session, seq",  # noqa: S608 - two constants
            values,
        ):
            yield FileRow(*found)

    def counts(self) -> dict[str, int]:
        """Return how many sources, sessions, files, records and bytes are remembered."""
        db = self._db
        sources, gone, pending = db.execute(
            "SELECT count(*), coalesce(sum(gone), 0), coalesce(sum(pending_bytes > 0), 0) FROM sources"
        ).fetchone()
        sessions, files, records, size = db.execute(
            "SELECT count(DISTINCT session), count(*), coalesce(sum(records), 0),"
            " coalesce(sum(bytes), 0) FROM files"
        ).fetchone()
        return {
            "sources": sources,
            "gone": gone,
            "pending": pending,
            "sessions": sessions,
            "files": files,
            "records": records,
            "bytes": size,
        }

    def commit(self, sources: Iterable[SourceRow], files: Iterable[FileRow]) -> None:
        """
        Remember *sources* and *files*, in one transaction. Called after they are on disk.

        Raises:
            StateError: It could not be written; what was landed is landed all the same.
        """
        self._is_empty = False
        try:
            with self._db:
                self._db.executemany(
                    f"INSERT OR REPLACE INTO sources VALUES ({','.join('?' * 21)})",  # noqa: S608
                    [_source_values(row) for row in sources],
                )
                for row in files:
                    self._db.execute("INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?)", row)
                    self._db.execute(
                        "INSERT INTO sessions VALUES (?, ?) ON CONFLICT (session)"
                        " DO UPDATE SET seq = max(seq, excluded.seq)",
                        (row.session, row.seq),
                    )
        except sqlite3.Error as error:
            raise StateError(f"{self.path}: cannot be written: {error}") from error

    def _check(self, root_id: str, *, read_only: bool) -> None:
        self._is_empty = False
        """Whether nothing is remembered, so that a first pass need not ask for each source."""
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StateTooNew(self.path, version, VERSION)
        if read_only:
            return
        if version == 0:
            with self._db:
                self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        elif self._db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("its contents are damaged")
        known = self._db.execute("SELECT value FROM meta WHERE key = 'root'").fetchone()
        if known is None or known[0] != root_id:
            with self._db:
                for table in ("sources", "sessions", "files"):
                    self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - constants
                self._db.execute("INSERT OR REPLACE INTO meta VALUES ('root', ?)", (root_id,))
        self._is_empty = not any(
            self._db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()  # noqa: S608 - constants
            for table in ("sources", "sessions", "files")
        )


def _opened(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)
    else:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.close(fd)
        db = sqlite3.connect(path, check_same_thread=False)
    db.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    if not read_only:
        db.execute("PRAGMA journal_mode = WAL")
        # A commit that a power cut takes is found again on the disk.
        db.execute("PRAGMA synchronous = NORMAL")
    return db


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _move_aside(path: Path, reason: str) -> None:
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    with contextlib.suppress(FileNotFoundError):
        path.rename(aside)
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    log.warning("state.recovered", path=str(path), moved_to=str(aside), reason=reason)


def _source_row(found: tuple[Any, ...]) -> SourceRow:
    adapter, src, session, stream, batch, kind = found[:6]
    dev, ino, size, mtime_ns, ctime_ns = found[6:11]
    last_ord, last_off, last_size, last_sha = found[11:15]
    seq, sealed, pending_bytes, gone, generation, note = found[15:]
    return SourceRow(
        adapter,
        src,
        session,
        stream,
        batch,
        kind,
        None if ino is None else Stat(int(dev), int(ino), size, mtime_ns, ctime_ns),
        None if last_ord is None else Anchor(last_ord, last_off, last_size, last_sha),
        seq,
        bool(sealed),
        pending_bytes,
        bool(gone),
        generation,
        note,
    )


def _source_values(row: SourceRow) -> tuple[object, ...]:
    stat: tuple[object, ...] = (None,) * 5
    if row.stat is not None:
        # Device and inode are unsigned 64-bit, which SQLite's integers are not.
        stat = (str(row.stat.dev), str(row.stat.ino), *row.stat[2:])
    return (
        *row[:6],
        *stat,
        *(row.last if row.last is not None else (None,) * 4),
        row.seq,
        row.sealed,
        row.pending_bytes,
        row.gone,
        row.generation,
        row.note,
    )
