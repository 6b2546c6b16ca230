"""The state store is a cache: whatever happens to it, it comes back empty or as it was."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from collectord.errors import StateTooNew
from collectord.sources import Anchor, Stat
from collectord.state import FileRow, SourceRow, Store, store_path

ROW = SourceRow(
    "plain-local",
    "a/b.jsonl",
    "b",
    "main",
    "",
    "transcript",
    Stat(2**64 - 1, 2**63 + 5, 10, 2**62, 3),
    Anchor(4, 30, 9, "0123456789ab"),
    7,
    True,
    3,
    False,
    1,
    "",
)
FILE = FileRow("b", 7, "b/streams/main/x.sd", "plain-local", "a/b.jsonl", 4, 999, "00" * 32)


def filled(path: Path) -> None:
    store = Store(path, "root-1")
    store.commit([ROW], [FILE])
    store.close()


def test_what_is_committed_is_read_back(tmp_path: Path) -> None:
    filled(tmp_path / "s.db")
    store = Store(tmp_path / "s.db", "root-1")
    assert store.source("plain-local", "a/b.jsonl") == ROW
    assert list(store.sources()) == [ROW]
    assert list(store.files("b")) == [FILE]
    assert store.known_seq("b") == 7
    assert store.known_seq("other") == 0
    assert ROW.stat is not None
    assert store.same_file(ROW.stat) == [ROW]
    assert store.counts()["records"] == 4
    store.close()


def test_a_row_without_figures_is_read_back(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.db", "root-1")
    row = ROW._replace(stat=None, last=None, note="its first records do not say")
    store.commit([row], [])
    assert store.source(*row.key) == row
    store.close()


def test_the_known_number_never_goes_back(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.db", "root-1")
    store.commit([], [FILE])
    store.commit([], [FILE._replace(seq=3)])
    assert store.known_seq("b") == 7
    store.close()


def test_the_store_of_another_root_is_emptied(tmp_path: Path) -> None:
    filled(tmp_path / "s.db")
    store = Store(tmp_path / "s.db", "root-2")
    assert list(store.sources()) == []
    assert store.known_seq("b") == 0
    store.close()


def test_a_newer_store_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    filled(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StateTooNew, match="newer collectord"):
        Store(path, "root-1")
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", [b"", b"\0" * 4096, b"not a database, " * 300])
def test_a_damaged_store_is_moved_aside(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "s.db"
    filled(path)
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    path.write_bytes(damage)
    store = Store(path, "root-1")
    assert list(store.sources()) == []
    store.commit([ROW], [])
    store.close()
    if damage:
        assert [p.read_bytes() for p in tmp_path.glob("s.db.damaged-*")] == [damage]


def test_any_single_damaged_page_is_survived(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    filled(path)
    whole = path.read_bytes()
    for start in range(0, len(whole), 4096):
        for each in tmp_path.iterdir():
            each.unlink()
        path.write_bytes(whole[:start] + b"\xff" * 4096 + whole[start + 4096 :])
        store = Store(path, "root-1")
        store.commit([ROW], [FILE])
        assert store.source(*ROW.key) == ROW
        store.close()


def test_it_is_private(tmp_path: Path) -> None:
    path = store_path(tmp_path / "new" / "state", tmp_path)
    filled(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_each_root_has_a_store_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    state = tmp_path / "state"
    assert store_path(state, tmp_path) == store_path(state, tmp_path / "link")
    assert store_path(state, tmp_path) != store_path(state, tmp_path / "other")
    assert os.fspath(store_path(state, tmp_path)).endswith(".db")
