"""What proves that a file is still the one that was landed."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectord.errors import SourceGone, SourceRefused
from collectord.sources import (
    Anchor,
    Cursor,
    Stat,
    first_broken,
    open_source,
    pick_anchors,
    read_lines,
    sha256_of_range,
)

CONTENT = b"".join(b"line %d\n" % number for number in range(9))


@pytest.fixture
def landed(tmp_path: Path) -> Iterator[tuple[Path, int, list[Anchor]]]:
    """A file, a descriptor of it, and the chain of what it held."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(CONTENT)
    fd = open_source(path)
    yield path, fd, [Anchor.of(raw) for raw in read_lines(fd, Cursor()).raws]
    os.close(fd)


def test_a_chain_holds_in_the_file_it_came_from(landed: tuple[Path, int, list[Anchor]]) -> None:
    path, fd, chain = landed
    assert len(chain) == 9 and first_broken(fd, chain) is None
    with path.open("ab") as more:
        more.write(b"growth\n")
    assert first_broken(fd, chain) is None


@pytest.mark.parametrize("place", range(9))
def test_a_changed_byte_breaks_its_own_link(
    landed: tuple[Path, int, list[Anchor]], place: int
) -> None:
    path, fd, chain = landed
    with path.open("r+b") as out:
        out.seek(chain[place].off + 3)
        out.write(b"X")
    assert first_broken(fd, chain) == chain[place]
    assert first_broken(fd, chain[place + 1 :]) is None


def test_a_file_cut_short_breaks_the_first_link_that_is_not_whole(
    landed: tuple[Path, int, list[Anchor]],
) -> None:
    path, fd, chain = landed
    os.truncate(path, chain[4].off + chain[4].size - 1)
    assert first_broken(fd, chain) == chain[4]


def test_digests_of_12_and_of_64_digits_are_compared_by_the_shorter(
    landed: tuple[Path, int, list[Anchor]],
) -> None:
    _, fd, chain = landed
    whole = hashlib.sha256(CONTENT[: chain[0].size]).hexdigest()
    assert first_broken(fd, [chain[0]._replace(sha=whole)]) is None
    wrong = chain[0]._replace(sha=whole[:63] + ("0" if whole[63] != "0" else "1"))
    assert first_broken(fd, [wrong]) == wrong


@given(off=st.integers(0, 80), size=st.integers(0, 80))
def test_a_range_s_digest_is_that_of_its_bytes(
    tmp_path_factory: pytest.TempPathFactory, off: int, size: int
) -> None:
    path = tmp_path_factory.mktemp("range") / "a"
    path.write_bytes(CONTENT)
    fd = open_source(path)
    assert sha256_of_range(fd, off, size) == hashlib.sha256(CONTENT[off : off + size]).hexdigest()
    os.close(fd)


@given(st.lists(st.sampled_from([1, 100, 30_000, 70_000]), max_size=12))
def test_few_anchors_stand_for_a_chain_and_they_are_its_ends(sizes: list[int]) -> None:
    chain = [Anchor(place + 1, 0, size, "ab") for place, size in enumerate(sizes)]
    head, tail = pick_anchors(chain)
    assert head == chain[: len(head)] and tail == chain[len(chain) - len(tail) :]
    for picked in (head, tail):
        assert len(picked) <= 4 and bool(picked) == bool(chain)
        assert sum(anchor.size for anchor in picked) <= 64 << 10 or len(picked) == 1


def test_what_is_not_there_is_gone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "none", tmp_path / "file" / "below"):
        with pytest.raises(SourceGone, match="no longer there"):
            open_source(path)


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(SourceRefused, match="not a regular file"):
            open_source(path)


def test_opening_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    path.chmod(0o400)
    before = Stat.of(path.stat())
    os.close(open_source(path))
    assert Stat.of(path.stat()) == before


def test_figures_of_a_file_differ_once_it_grew(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    before = Stat.of(path.stat())
    assert Stat.of(path.stat()) == before
    path.write_bytes(b"xy")
    assert Stat.of(path.stat()) != before
