"""A source that is rewritten whole: which of its versions count, and what is one."""

import hashlib
import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from collectord.sources import STABLE_S, RawRecord, Version, document, read_document

WRITTEN_AT = 1_000_000.0
"""The time at which every document of these tests was last changed."""


def opened(path: Path, content: bytes) -> int:
    path.write_bytes(content)
    os.utime(path, (WRITTEN_AT, WRITTEN_AT))
    return os.open(path, os.O_RDONLY)


def read(path: Path, content: bytes, age: float = 0.0, **options: object) -> Version:
    fd = opened(path, content)
    try:
        return read_document(fd, now=WRITTEN_AT + age, **options)  # type: ignore[arg-type]
    finally:
        os.close(fd)


def version(data: bytes) -> Version:
    return Version(RawRecord(1, 0, len(data), hashlib.sha256(data).hexdigest()[:12], data))


@pytest.mark.parametrize("content", [b'{"a":1}', b'\xef\xbb\xbf{"a":1}', b"[1,\r\n2]", b"0"])
@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n", b"\n\n\r\n"])
def test_a_document_that_parses_counts_at_once(
    tmp_path: Path, content: bytes, ending: bytes
) -> None:
    assert read(tmp_path / "a", content + ending) == version(content)


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n\n"])
@pytest.mark.parametrize("final", [False, True])
def test_an_empty_document_is_none_yet(tmp_path: Path, content: bytes, final: bool) -> None:
    assert read(tmp_path / "a", content, age=100, final=final) == Version(None)


@pytest.mark.parametrize("content", [b'{"a":', b"print()", b"\xff", b"[" * 100_000])
def test_what_does_not_parse_is_waited_for_until_it_was_left_alone(
    tmp_path: Path, content: bytes
) -> None:
    early = read(tmp_path / "a", content + b"\n", age=0.5)
    assert early == Version(None, STABLE_S - 0.5, len(content))
    assert read(tmp_path / "a", content + b"\n", age=0.5 + early.wait_s) == version(content)
    assert read(tmp_path / "a", content, age=0.5, final=True) == version(content)


def test_a_time_in_the_future_is_not_waited_for(tmp_path: Path) -> None:
    assert read(tmp_path / "a", b"{", age=-3600) == version(b"{")


def test_the_clock_is_the_computer_s_unless_given(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"{")
    fd = os.open(tmp_path / "a", os.O_RDONLY)
    assert 0 < read_document(fd).wait_s <= STABLE_S
    os.close(fd)


def test_a_document_that_grows_is_read_again(tmp_path: Path) -> None:
    fd = opened(tmp_path / "a", b'{"a":')
    assert read_document(fd, now=WRITTEN_AT).raw is None
    (tmp_path / "a").write_bytes(b'{"a":1}')
    assert read_document(fd, now=WRITTEN_AT) == version(b'{"a":1}')
    os.close(fd)


@pytest.mark.parametrize(
    ("content", "utf8"),
    [
        (b"a" * 99 + b"\n", True),
        ("é".encode() * 50, True),
        (b"a" * 99 + b"\xc3", False),
        (b"\xff" * 99, False),
    ],
)
@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_a_large_document_is_digested_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, utf8: bool, piece: int
) -> None:
    monkeypatch.setattr(document, "_CHUNK", piece)
    assert read(tmp_path / "a", content, convert_bytes=50).wait_s == STABLE_S
    data = content.rstrip(b"\n")
    sha = hashlib.sha256(data).hexdigest()[:12]
    for options in ({"age": 3.0}, {"final": True}):
        found = read(tmp_path / "a", content, convert_bytes=50, **options)
        assert found == Version(RawRecord(1, 0, len(data), sha, None, utf8))


@pytest.mark.parametrize("limit", [10, 1000])
def test_a_document_cut_short_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    real, calls = os.pread, iter(range(100))

    def cut_after_the_first(fd: int, size: int, off: int) -> bytes:
        if next(calls) == 1:
            os.truncate(tmp_path / "a", 5)
        return real(fd, size, off)

    monkeypatch.setattr(os, "pread", cut_after_the_first)
    found = read(tmp_path / "a", b"x" * 100, age=100, convert_bytes=limit)
    assert found == Version(None, STABLE_S, 100)


@example(b"a\r\n\n\n", 3)
@given(
    content=st.lists(st.sampled_from([b"\n", b"\n", b"\r", b"a"]), max_size=12).map(b"".join),
    block=st.integers(2, 6),
)
def test_only_whole_newlines_are_taken_from_the_end(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, block: int
) -> None:
    kept = re.sub(rb"(?:\r?\n)+\Z", b"", content)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(document, "_TAIL", block)
        found = read(tmp_path_factory.mktemp("d") / "a", content, final=True)
    assert found == (version(kept) if kept else Version(None))
