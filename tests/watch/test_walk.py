"""The walk: each folder once, and who goes through a link is told."""

from pathlib import Path

import pytest

from collectord.watch import walk


def names(top: Path) -> tuple[list[str], list[str]]:
    """Return the files and the links below *top*, as the walk names them."""
    links: list[Path] = []
    files = [path for path, _ in walk(top, links.append)]
    return [str(path.relative_to(top)) for path in files], [
        str(link.relative_to(top)) for link in links
    ]


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "top" / "a").mkdir(parents=True)
    (tmp_path / "top" / "a" / "f").touch()
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere" / "deep" / "g").touch()
    return tmp_path / "top"


def test_a_folder_behind_a_link_is_walked_and_told_of(top: Path) -> None:
    (top / "link").symlink_to(top.parent / "elsewhere")
    assert names(top) == (["a/f", "link/deep/g"], ["link"])


def test_a_folder_behind_two_links_is_walked_once(top: Path) -> None:
    (top / "one").symlink_to(top.parent / "elsewhere")
    (top / "two").symlink_to(top.parent / "elsewhere")
    assert names(top) == (["a/f", "one/deep/g"], ["one"])


def test_a_loop_and_a_link_into_the_walked_folder_are_not_entered(top: Path) -> None:
    (top / "a" / "up").symlink_to(top)
    (top / "self").symlink_to("self")
    (top / "z").symlink_to(top / "a")
    assert names(top) == (["a/f"], [])


def test_links_to_files_and_to_nothing_are_not_told_of(top: Path) -> None:
    (top / "file").symlink_to(top / "a" / "f")
    (top / "nothing").symlink_to(top / "not there")
    assert names(top) == (["a/f", "file"], [])


def test_a_link_that_is_walked_itself_is_told_of(top: Path) -> None:
    link = top / "link"
    link.symlink_to(top.parent / "elsewhere")
    assert names(link) == (["deep/g"], ["."])
