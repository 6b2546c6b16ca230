"""A session read from a landing root: its facts, and how a person names it."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from collectord.errors import NothingFound
from collectord.reading import find_session, sessions
from collectord.reading.files import last_lines
from collectord.reading.session import LABEL_BYTES
from collectord.sessiondata import Kind
from tests.reading.growing import Growing, append, record, source


@pytest.fixture
def growing(quick_tmp: Path) -> Growing:
    return Growing(quick_tmp / "root")


def person(ord_: int, text: str, time: str = "") -> object:
    return record(ord_, text, from_="external", trigger="external", time=time)


def test_a_session_is_what_its_files_say(growing: Growing) -> None:
    growing.sealed(
        record(1, "set-up", from_="runtime"),
        record(2, "make it quick", from_="external", time="2026-01-01T10:00:00Z"),
        record(3, "yes", time="2026-01-01T12:00:00+01:00", label="Old name"),
    )
    file = growing.open()
    append(file, record(4, "ok", time="2026-01-01T11:30:00Z", label="Quick things"), record(5))
    growing.sealed(record(1), of=source(stream="child"))
    growing.sealed(record(1), of=source(stream="child", kind=Kind.AGENT_META, src="m"))
    growing.sealed(record(1), of=source(stream="", kind=Kind.JOURNAL, batch="run", src="j"))
    (session,) = sessions(growing.path)
    assert (session.id, session.owner) == ("s1", "")
    assert (session.header.adapter, session.header.dialect) == ("play-local/0.1.0", "play/1")
    assert session.label == "Quick things"
    assert session.opening == "make it quick"
    assert session.first_time == "2026-01-01T10:00:00Z"
    assert session.last_time == "2026-01-01T11:30:00Z"
    assert (session.streams, session.runs, len(session.files)) == (2, 1, 5)
    assert session.count_records() == 8
    assert session.bytes == sum(n.path.stat().st_size for n in session.files)
    assert session.is_open
    file.seal(closing_line=True)
    (session,) = sessions(growing.path)
    assert not session.is_open
    assert session.count_records() == 8
    assert session.label == "Quick things"


def test_the_newest_time_counts_not_the_greatest_text(growing: Growing) -> None:
    growing.sealed(
        record(1, time="2026-01-01T09:00:00-05:00"), record(2, time="2026-01-01T10:00:00+09:00")
    )
    (session,) = sessions(growing.path)
    assert session.last_time == "2026-01-01T09:00:00-05:00"


def test_where_the_main_stream_states_no_time_another_one_does(growing: Growing) -> None:
    growing.sealed(record(1))
    growing.sealed(record(1, time="2026-01-01T09:00:00Z"), of=source(stream="child"))
    growing.sealed(record(1), of=source(stream="child", kind=Kind.AGENT_META, src="m"))
    (session,) = sessions(growing.path)
    assert session.last_time == "2026-01-01T09:00:00Z"


def test_the_id_comes_from_the_header_not_from_the_folder(growing: Growing) -> None:
    growing.sealed(record(1), of=source("äö/ü"))
    folder = growing.folder("äö/ü")
    folder.rename(growing.path / "renamed")
    (session,) = sessions(growing.path)
    assert session.id == "äö/ü"
    assert find_session(growing.path, "äö").folder == growing.path / "renamed"


def test_a_label_is_looked_for_at_the_end_only(growing: Growing) -> None:
    growing.sealed(record(1, label="far away"), record(2, "x" * LABEL_BYTES))
    growing.sealed(record(1, label="near"), record(2), of=source("s2"))
    found = {session.id: session.label for session in sessions(growing.path)}
    assert found == {"s1": "", "s2": "near"}


def test_words_that_look_like_a_label_are_none(growing: Growing) -> None:
    growing.sealed(record(1, 'say "label":"no" and "label":"never"'))
    (session,) = sessions(growing.path)
    assert session.label == ""


def test_a_session_whose_only_file_has_no_header_yet_is_not_there(growing: Growing) -> None:
    file = growing.open()
    for size in range(file.size):
        file.path.write_bytes(file.path.read_bytes()[:size])
        assert list(sessions(growing.path)) == []


def test_every_prefix_of_a_file_can_be_listed(growing: Growing) -> None:
    file = growing.open()
    start = file.size
    append(file, person(1, "é", "2026-01-01T10:00:00Z"), record(2, label="L"))  # type: ignore[arg-type]
    whole = file.path.read_bytes()
    middle = whole.index(b"\n", start) + 1
    for size in range(start, len(whole) + 1):
        file.path.write_bytes(whole[:size])
        (session,) = sessions(growing.path)
        assert session.opening == ("é" if size >= middle else "")
        assert session.last_time == ("2026-01-01T10:00:00Z" if size >= middle else "")
        assert session.label == ("L" if size == len(whole) else "")


def test_the_last_lines_are_those_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "x"
    lines = [b"header\n", *(bytes([65 + i]) * (i * 3000) + b"\n" for i in range(6))]
    whole = b"".join(lines)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]
    expected = list(pairwise(starts[1:]))
    for torn in (b"", b"torn", b"t" * 9000):
        path.write_bytes(whole + torn)
        with path.open("rb") as stream:
            for count in range(8):
                tail = last_lines(stream, count)
                assert tail.end == len(whole)
                assert tail.lines == (expected[-count:] if count else [])


def test_a_session_is_named_by_its_id_a_beginning_or_latest(growing: Growing) -> None:
    growing.sealed(record(1, time="2026-01-02T00:00:00Z"), of=source("abc-1"))
    growing.sealed(record(1, time="2026-01-01T00:00:00Z"), of=source("abc-12"))
    growing.sealed(record(1), of=source("latest-news"))
    assert find_session(growing.path, "abc-1").id == "abc-1"
    assert find_session(growing.path, "abc-12").id == "abc-12"
    assert find_session(growing.path, "lat").id == "latest-news"


def test_latest_is_the_one_that_was_active_last(growing: Growing) -> None:
    growing.sealed(record(1, time="2026-05-02T00:00:00Z"), of=source("b"))
    growing.sealed(record(1, time="2026-01-01T00:00:00Z"), of=source("a"))
    assert find_session(growing.path, "latest").id == "b"
    growing.sealed(record(1, time="2020-01-01T00:00:00Z"), of=source("latest"))
    assert find_session(growing.path, "latest").id == "latest"


def test_an_ambiguous_beginning_names_the_candidates(growing: Growing) -> None:
    for session in ("abc-1", "abc-2", "xyz"):
        growing.sealed(record(1), of=source(session))
    with pytest.raises(NothingFound, match=r"2 sessions .* begin with 'abc': abc-1, abc-2"):
        find_session(growing.path, "abc")


def test_what_is_not_there_says_where_was_looked(growing: Growing) -> None:
    with pytest.raises(NothingFound, match=r"nothing has landed in .*root"):
        find_session(growing.path, "abc")
    growing.sealed(record(1))
    for wanted in ("abc", "s11", "../s1", "", "."):
        with pytest.raises(NothingFound, match=r"among the 1 in .*root"):
            find_session(growing.path, wanted)


def test_two_owners_of_one_session_are_told_apart(tmp_path: Path) -> None:
    ann = Growing(tmp_path / "ann")
    ann.sealed(record(1))
    (ann.path / "owner.json").write_text("{}")
    shutil.copytree(ann.path, tmp_path / "bob")
    assert [one.owner for one in sessions(tmp_path)] == ["ann", "bob"]
    with pytest.raises(NothingFound, match="ann/s1, bob/s1"):
        find_session(tmp_path, "s1")
    assert find_session(tmp_path, "bob/s1").owner == "bob"
    assert find_session(tmp_path / "ann", "s1").owner == ""


def test_a_session_is_read_while_its_file_is_sealed(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1, "words", from_="external", time="2026-01-01T10:00:00Z", label="L"))
    (session,) = sessions(growing.path)
    file.seal()
    assert (session.opening, session.label) == ("words", "L")
    assert session.last_time == "2026-01-01T10:00:00Z"
    assert session.count_records() == 1
    assert session.bytes > 0
