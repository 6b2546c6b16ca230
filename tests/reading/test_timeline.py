"""Records in order: as they landed, and as the current view of a stream."""

from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from collectord.errors import NothingFound
from collectord.reading import (
    Stream,
    as_landed,
    conversation,
    find_session,
    find_stream,
    landed_bytes,
    streams,
)
from collectord.sessiondata import Kind, Record
from tests.reading.growing import Growing, append, record, source


@pytest.fixture
def growing(quick_tmp: Path) -> Growing:
    return Growing(quick_tmp / "root")


def shown(growing: Growing, *, once: bool = True) -> list[str]:
    found: list[Stream] = streams(find_session(growing.path, "s1"))
    return [e.record.parts[0].text for e in conversation(found[0], once=once)]


def test_records_come_in_order_of_seq_and_ord(growing: Growing) -> None:
    growing.sealed(record(1), record(2))
    append(growing.open(), record(3))
    assert shown(growing) == ["line 1", "line 2", "line 3"]


def test_streams_are_apart_and_main_is_first(growing: Growing) -> None:
    growing.sealed(record(1, "child"), of=source(stream="child"))
    growing.sealed(record(1, "main"))
    growing.sealed(record(1, "meta"), of=source(stream="child", kind=Kind.AGENT_META, src="m"))
    session = find_session(growing.path, "s1")
    assert [one.id for one in streams(session)] == ["main", "child"]
    assert [e.record.parts[0].text for e in as_landed(session)] == ["child", "main", "meta"]
    assert len(list(as_landed(session, stream="child"))) == 2
    assert find_stream(session, "ch").id == "child"
    with pytest.raises(NothingFound, match="no stream 'x', but main, child"):
        find_stream(session, "x")


def test_the_newest_generation_of_a_line_is_shown_in_its_place(growing: Growing) -> None:
    growing.sealed(*(record(ord_) for ord_ in (1, 2, 3, 4)))
    growing.sealed(record(2, "line 2, rewritten"), record(5))
    growing.sealed(record(2, "line 2, again"))
    assert shown(growing) == ["line 1", "line 2, again", "line 3", "line 4", "line 5"]


def test_a_source_is_not_rewritten_by_another_one(growing: Growing) -> None:
    growing.sealed(record(1, "a"), record(2, "b"))
    growing.sealed(record(1, "c"), of=source(src="moved-later.jsonl"))
    assert shown(growing) == ["a", "b", "c"]


def test_an_id_that_a_source_repeats_is_shown_once_and_landed_twice(growing: Growing) -> None:
    growing.sealed(record(1, "a", id="A"), record(2, "b", id="B"), record(3, "no id"))
    growing.sealed(record(4, "b again", id="B"), record(5, "no id"), record(6, "c", id="C"))
    growing.sealed(record(1, "a copied", id="A"), of=source(src="copy.jsonl"))
    assert shown(growing) == ["a", "b", "no id", "no id", "c"]
    assert len(shown(growing, once=False)) == 7


def test_landed_bytes_are_the_lines_of_the_files(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1, "\x9b\u2028é"))
    path, _ = file.seal(closing_line=True)
    other = growing.sealed(record(2))
    session = find_session(growing.path, "s1")
    lines = path.read_bytes().splitlines(keepends=True)
    second = other.read_bytes().splitlines(keepends=True)
    assert list(landed_bytes(session)) == [lines[1], second[1]]
    assert list(landed_bytes(session, headers=True)) == [*lines[:2], *second]
    assert list(landed_bytes(session, stream="other")) == []


def test_every_prefix_of_an_open_file_shows_its_whole_records(growing: Growing) -> None:
    file = growing.open()
    start = file.size
    append(file, record(1), record(2))
    whole = file.path.read_bytes()
    for size in range(start, len(whole) + 1):
        file.path.write_bytes(whole[:size])
        count = whole[:size].count(b"\n") - 1
        assert shown(growing) == ["line 1", "line 2"][:count]
        assert len(list(landed_bytes(find_session(growing.path, "s1")))) == count


@settings(max_examples=40, deadline=None)
@given(files=st.lists(st.sets(st.integers(1, 6), min_size=1), min_size=1, max_size=5))
def test_the_current_view_is_the_newest_record_of_each_ord(
    tmp_path_factory: pytest.TempPathFactory, files: list[set[int]]
) -> None:
    growing = Growing(tmp_path_factory.mktemp("root"))
    newest: dict[int, str] = {}
    for number, ords in enumerate(files):
        landed: list[Record] = []
        for ord_ in sorted(ords):
            newest[ord_] = f"{ord_} of {number}"
            landed.append(record(ord_, newest[ord_]))
        growing.sealed(*landed)
    assert shown(growing) == [newest[ord_] for ord_ in sorted(newest)]
