"""Names that come from data, as folders."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectord.errors import LandingError, NameRefused
from collectord.landing import LandingRoot, parse_name
from collectord.landing.labels import RootLabels
from collectord.landing.root import stamp_of
from collectord.sessiondata import Kind

ROOT = LandingRoot(Path("/nowhere/root"))


@given(name=st.text(min_size=1, max_size=80))
def test_any_name_stays_inside_the_root_or_is_refused(name: str) -> None:
    try:
        folder = ROOT.folder(Kind.TRANSCRIPT, name, name, "")
    except NameRefused:
        return
    parts = folder.relative_to(ROOT.path).parts
    assert len(parts) == 3
    for part in (parts[0], parts[2]):
        assert part not in (".", "..")
        assert not part.startswith(".")
        assert len(part.encode()) <= 200
        assert set(part) <= set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-%"
        )


@given(one=st.text(min_size=1, max_size=30), other=st.text(min_size=1, max_size=30))
def test_two_names_are_two_folders(one: str, other: str) -> None:
    try:
        folders = {ROOT.session_folder(one), ROOT.session_folder(other)}
    except NameRefused:
        return
    assert len(folders) == len({one, other})


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 201, "é" * 60])
def test_what_cannot_be_a_name_is_refused(name: str) -> None:
    with pytest.raises(NameRefused):
        ROOT.session_folder(name)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("0438c73b-A", "0438c73b-A"),
        ("a/../b", "a%2F..%2Fb"),
        ("..evil", "%2E.evil"),
        (".collectord", "%2Ecollectord"),
        ("CON", "%43ON"),
        ("nul.txt", "%6Eul.txt"),
        ("a b", "a%20b"),
        ("ü", "%C3%BC"),
        ("a~b", "a%7Eb"),
        ("a\0b", "a%00b"),
    ],
)
def test_how_names_are_written(name: str, folder: str) -> None:
    assert ROOT.session_folder(name).name == folder


def test_names_equal_but_for_case_are_two_where_the_file_system_folds_case(tmp_path: Path) -> None:
    root = LandingRoot(tmp_path / "root")
    root.create()
    (tmp_path / "root" / ".COLLECTORD").mkdir()  # as if `.collectord` were found by this name
    upper, lower = root.session_folder("A1"), root.session_folder("a1")
    assert upper.name.lower() != lower.name.lower()
    assert upper.name.startswith("A1~")


def test_a_name_is_read_back() -> None:
    name = LandingRoot.open_name(Kind.JOURNAL, 42, stamp_of(1_788_000_000_481_523_000))
    assert name == "journal-20260829T104000.481523000Z-000042.sd.open"
    parsed = parse_name(Path("/x") / name)
    assert parsed is not None
    assert (parsed.prefix, parsed.seq, parsed.is_open) == ("journal", 42, True)
    assert parsed.sealed_path.name == name.removesuffix(".open")


@pytest.mark.parametrize(
    "name",
    [
        "transcript-20260831T091204.481523000Z-000001.sd.open.new",
        "transcript-20260831T091204.481523000Z-000001 (conflicted copy).sd",
        "other-20260831T091204.481523000Z-000001.sd",
        ".nfs0001",
        "transcript-000001.sd",
    ],
)
def test_foreign_names_are_none_of_ours(name: str) -> None:
    assert parse_name(Path(name)) is None


def test_a_root_that_is_a_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(LandingError, match="cannot be used as landing root"):
        LandingRoot(tmp_path / "file").create()


def test_a_root_keeps_its_id(tmp_path: Path) -> None:
    first = LandingRoot(tmp_path / "root").create()
    assert LandingRoot(tmp_path / "root").create() == first
    assert LandingRoot(tmp_path / "other").create() != first


def test_labels_are_given_once_and_survive_a_torn_line(tmp_path: Path) -> None:
    root = LandingRoot(tmp_path / "root")
    root.create()
    labels = RootLabels(root)
    assert labels.label_of("a-local", Path("/home/x/.claude/projects")) == ""
    second = labels.label_of("a-local", Path("/srv/backup/projects"))
    assert second.startswith("backup-")
    assert labels.label_of("b-local", Path("/srv/backup/projects")) == ""
    path = root.own / "roots"
    os.truncate(path, path.stat().st_size - 5)
    again = RootLabels(root)
    assert again.find("b-local", Path("/srv/backup/projects")) is None
    assert again.label_of("b-local", Path("/srv/backup/projects")) == ""
    assert RootLabels(root).find("a-local", Path("/srv/backup/projects")) == second
    assert RootLabels(root).find("b-local", Path("/srv/backup/projects")) == ""
