"""Reading landed and growing files, whatever their writer left at the end."""

import hashlib
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from collectord.errors import SessionDataError
from collectord.sessiondata import End, Part, Record, encode, open_sd, reader
from collectord.sessiondata.rawjson import quote, string
from tests.sessiondata.strategies import header, record

SHARED = Path(os.environ.get("COLLECTORD_SHARED", Path(__file__).parents[2] / "../shared"))

THREE = [encode(header()), encode(record(1)), encode(record(2, "é\u2028")), encode(record(3))]


def closing(lines: list[bytes], count: int | None = None) -> bytes:
    whole = b"".join(lines)
    wanted = len(lines) - 1 if count is None else count
    return encode(End("end", wanted, hashlib.sha256(whole).hexdigest()))


def written(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def test_a_file_of_another_writer_is_read_and_its_digest_is_right() -> None:
    path = SHARED / "peer/sd/released-writer.sd"
    if not path.exists():
        pytest.skip(f"{path} is not there: it lies beside the checkout, not in it")
    with open_sd(path) as sd:
        found = [*sd]
        assert sd.header.session and [len(each.sha) for each in found] == [64] * len(found)
        assert sd.end is not None and sd.end.records == len(found) > 0
        assert sd.check_digest() is True


def test_records_come_with_their_places(tmp_path: Path) -> None:
    with open_sd(written(tmp_path / "a.sd", *THREE)) as sd:
        lines = [*sd.lines()]
        assert [line.number for line in lines] == [2, 3, 4]
        whole = b"".join(THREE)
        assert [whole[line.start : line.stop] for line in lines] == THREE[1:]
        assert [*sd.lines(lines[1].start, lines[1].number)] == lines[1:]
        assert sd.check_digest() is None and not sd.is_open


def test_every_prefix_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    whole = b"".join(THREE) + closing(THREE)
    path = tmp_path / "a.sd.open"
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        lines = whole[:size].count(b"\n")
        if not lines:
            with pytest.raises(SessionDataError, match="not a whole line"):
                open_sd(path)
            continue
        with open_sd(path) as sd:
            assert [each.ord for each in sd] == list(range(1, min(lines, 4)))
            assert sd.torn_bytes == size - (whole[:size].rfind(b"\n") + 1)
            assert (sd.end is not None) == (size == len(whole))


def test_a_growing_file_is_read_on_and_what_was_cut_back_is_forgotten(tmp_path: Path) -> None:
    path = written(tmp_path / "a.sd.open", *THREE[:2], THREE[2][:30])
    with open_sd(path) as sd, path.open("r+b") as writer:
        (first,) = sd.lines()
        assert sd.is_open and sd.torn_bytes == 30
        writer.truncate(first.stop)
        writer.seek(first.stop)
        writer.write(THREE[3] + b"{")
        writer.flush()
        assert [line.record.ord for line in sd.lines(first.stop, 3)] == [3]
        assert sd.torn_bytes == 1


@pytest.mark.parametrize(
    ("last", "right"),
    [
        (closing(THREE), True),
        (closing(THREE).replace(b"{", b'{"later":"' + b"x" * 5000 + b'",'), True),
        (closing(THREE[:3]), False),
        (closing(THREE, count=2), False),
        (b"", None),
    ],
)
def test_the_closing_line_is_held_against_the_file(
    tmp_path: Path, last: bytes, right: bool | None
) -> None:
    with open_sd(written(tmp_path / "a.sd", *THREE, last)) as sd:
        assert sd.check_digest() is right
        assert len([*sd]) == 3


@pytest.mark.parametrize("after", [THREE[3], closing(THREE), b"\n", b"{", THREE[3][:-1]])
def test_nothing_may_follow_the_closing_line(tmp_path: Path, after: bytes) -> None:
    path = written(tmp_path / "a.sd", *THREE, closing(THREE), after)
    with (
        open_sd(path) as sd,
        pytest.raises(SessionDataError, match=rf"{path.name}:6: something follows"),
    ):
        list(sd)


@pytest.mark.parametrize("line", [b"{}\n", b'{"t":"end"}\n', b"\n", b"\0\0\n", b'{"ord":1\n'])
def test_a_line_that_is_neither_is_named(tmp_path: Path, line: bytes) -> None:
    with (
        open_sd(written(tmp_path / "a.sd", *THREE[:2], line)) as sd,
        pytest.raises(SessionDataError, match=r"a\.sd:3: n"),
    ):
        list(sd)


def small(monkeypatch: pytest.MonkeyPatch, limit: int = 300, chunk: int = 64) -> None:
    """Make lines long, and the pieces they are read in short."""
    monkeypatch.setattr(reader, "LONG_LINE_BYTES", limit)
    monkeypatch.setattr(reader, "_CHUNK", chunk)


def long_record(text: str, model: str = "") -> Record:
    part = Part(
        k="unknown", text="too long", data=quote(text), state="available", bytes=len(text.encode())
    )
    return record(2, parts=[part], model=model)


@given(
    inside=st.text('a"\\\n\x01é😀,:{}', max_size=40),
    chunk=st.integers(32, 90),
    model=st.sampled_from(["", 'x","y', '"data":"']),
)
def test_a_long_record_s_data_is_the_range_that_is_given(
    tmp_path_factory: pytest.TempPathFactory, inside: str, chunk: int, model: str
) -> None:
    text = inside * 3 + "x" * 400
    path = tmp_path_factory.mktemp("long") / "a.sd"
    written(
        path, encode(header()), encode(record()), encode(long_record(text, model=model)), THREE[3]
    )
    with pytest.MonkeyPatch.context() as patched:
        small(patched, chunk=chunk)
        with open_sd(path) as sd:
            _, line, after = sd.lines()
    assert line.data_range is not None and after.record.ord == 3
    start, stop = line.data_range
    assert string(b'"' + path.read_bytes()[start:stop] + b'"') == text
    (part,) = line.record.parts
    assert (part.text, part.state, part.bytes) == ("too long", "available", len(text.encode()))
    assert part.data is UNSET and line.record.model == model


@pytest.mark.parametrize(
    "value",
    [
        record(2, parts=[Part(k="data", data=Raw(b'{"data":"' + b"x" * 500 + b'"}'),
                              state="available", bytes=511)]),
        record(2, parts=[Part(k="text", text="y" * 500, state="available", bytes=500)]),
        record(2, parts=[Part(k="media", data=quote("x" * 500), state="available", bytes=500),
                         Part(k="text", text="y", state="available", bytes=1)]),
    ],
    ids=["nested data", "no data", "two parts"],
)  # fmt: skip
def test_a_long_record_of_another_shape_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: Record
) -> None:
    small(monkeypatch)
    with open_sd(written(tmp_path / "a.sd", encode(header()), encode(value), THREE[3])) as sd:
        line, after = sd.lines()
    assert line.record == value and line.data_range is None and after.record.ord == 3


def test_a_long_line_that_is_no_record_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    torn = encode(long_record("x" * 500)).replace(b'"state"', b"state")
    endless = b'{"ord":1,"parts":[{"k":"unknown","data":"' + b"x" * 500 + b"\n"
    for line in (torn, endless):
        with (
            open_sd(written(tmp_path / "a.sd", encode(header()), line)) as sd,
            pytest.raises(SessionDataError, match=r"a\.sd:2: not a record"),
        ):
            list(sd)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sd"
    line = encode(record(1, "x" * 4000))
    many = 100_000_000 // len(line)
    with path.open("wb") as out:
        out.write(encode(header()))
        for _ in range(many // 100):
            out.write(line * 100)
    with open_sd(path) as sd:
        tracemalloc.start()
        try:
            assert sum(1 for _ in sd) == many // 100 * 100
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()
    path.unlink()


def test_memory_does_not_grow_with_a_long_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch, limit=1 << 20, chunk=1 << 18)
    path = written(tmp_path / "a.sd", encode(header()), encode(long_record('a"\n' * (8 << 20))))
    with open_sd(path) as sd:
        tracemalloc.start()
        try:
            (line,) = sd.lines()
            assert tracemalloc.get_traced_memory()[1] < 6 << 20
        finally:
            tracemalloc.stop()
    assert line.data_range is not None and line.data_range.stop - line.data_range.start == 40 << 20
