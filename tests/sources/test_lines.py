"""An append-only source, read while it grows, against a simple split of the whole."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from collectord.sources import BOM, Cursor, RawRecord, Tail, lines, read_lines

# Uniform bytes are a newline once in 256; a tail reader's faults live at newlines.
BYTES = st.lists(
    st.sampled_from(
        [b"\n", b"\n", b"\r", b"\r\n", b" ", b"\t", b"a", b"\xff", b"\xc3", b"\xc3\xa9", BOM]
    ),
    max_size=12,
).map(b"".join)


class Append(NamedTuple):
    """More of the file."""

    more: bytes


class Read(NamedTuple):
    """A turn of the reader."""

    budget: int
    remember: bool
    """Whether the reader is told how far it looked before."""


ACTIONS = st.lists(
    st.builds(Append, BYTES) | st.builds(Read, st.integers(1, 20), st.booleans()), max_size=12
)


class File:
    """A growing file without a name."""

    def __init__(self, content: bytes = b"") -> None:
        self._held = tempfile.TemporaryFile()  # noqa: SIM115 - close() ends it
        self.content = b""
        self.append(content)

    @property
    def fd(self) -> int:
        return self._held.fileno()

    def append(self, more: bytes) -> None:
        self._held.write(more)
        self._held.flush()
        self.content += more

    def close(self) -> None:
        self._held.close()


@pytest.fixture
def file() -> Iterator[File]:
    opened = File()
    yield opened
    opened.close()


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def expected(content: bytes, convert_bytes: int, final: bool) -> list[RawRecord]:
    """Split the whole: the reference."""
    found = []
    off = 0
    pieces = content.split(b"\n")
    for place, piece in enumerate(pieces):
        ended = place < len(pieces) - 1
        data = piece[:-1] if ended and piece.endswith(b"\r") else piece
        if (ended or final) and piece.strip(b" \t\r"):
            sha = hashlib.sha256(data).hexdigest()[:12]
            if len(data) <= convert_bytes:
                found.append(RawRecord(place + 1, off, len(data), sha, data))
            else:
                found.append(RawRecord(place + 1, off, len(data), sha, None, is_utf8(data)))
        off += len(piece) + 1
    return found


def drained(fd: int, cursor: Cursor, **options: int) -> tuple[list[RawRecord], Tail]:
    found: list[RawRecord] = []
    while True:
        tail = read_lines(fd, cursor, **options)  # type: ignore[arg-type]
        found += tail.raws
        assert tail.more <= (tail.cursor.off > cursor.off), "a turn that goes nowhere promises more"
        cursor = tail.cursor
        if not tail.more:
            return found, tail


@settings(max_examples=400)
@given(script=ACTIONS, budget=st.integers(1, 20), limit=st.sampled_from([0, 1, 3, 8, 1000]),
       piece=st.integers(1, 8), final=st.booleans())  # fmt: skip
@example([Append(b"a\r\r\n")], 1, 1000, 8, False)
@example([Append(b"   \n"), Append(b"a\n")], 2, 1, 1, False)
@example([Append(b"abc"), Read(3, True), Append(b"\n")], 3, 1000, 8, False)
@example([Append(b"abc\r")], 4, 1000, 4, True)
@example([Append(b"a\n   ")], 2, 1000, 4, True)
@example([Append(b"a\n   ")], 2, 1, 4, True)
@example([Append(b"abc\xc3\n")], 2, 1, 4, False)
def test_what_is_read_is_what_was_written(
    script: list[Append | Read], budget: int, limit: int, piece: int, final: bool
) -> None:
    """Any interleaving of writes and reads yields every record once, in order, in its place."""
    file = File()
    found: list[RawRecord] = []
    cursor, scanned = Cursor(), 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lines, "_CHUNK", piece)
        for action in script:
            if isinstance(action, Append):
                file.append(action.more)
                continue
            tail = read_lines(
                file.fd,
                cursor,
                max_bytes=action.budget,
                convert_bytes=limit,
                scanned_to=scanned if action.remember else 0,
            )
            found += tail.raws
            cursor, scanned = tail.cursor, tail.cursor.off + tail.pending_bytes
            if not tail.more:
                assert cursor == Cursor(file.content.count(b"\n"), file.content.rfind(b"\n") + 1)
                assert tail.pending_bytes == len(file.content) - cursor.off
        last, tail = drained(file.fd, cursor, max_bytes=budget, convert_bytes=limit, final=final)
    file.close()
    assert found + last == expected(file.content, limit, final)
    unended = file.content.rpartition(b"\n")[2]
    taken = final and bool(unended.strip(b" \t\r"))
    assert tail.cursor.off == len(file.content) - (0 if taken else len(unended))
    assert tail.cursor.ord == file.content.count(b"\n") + taken
    assert tail.pending_bytes == (0 if final else len(unended))


@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("line", [b"abcdef", b"      ", BOM])
def test_a_line_about_as_long_as_the_budget(
    file: File, line: bytes, ending: bytes, extra: int
) -> None:
    """Its last byte, its ending or the end of the file fall on the edge of the budget."""
    file.append(line + ending)
    found, tail = drained(file.fd, Cursor(), max_bytes=len(file.content) + extra)
    assert found == expected(file.content, 1000, final=False)
    assert tail.pending_bytes == (0 if ending else len(line))


@pytest.mark.parametrize("budget", [1, 2, 3, 4, 100])
@pytest.mark.parametrize("limit", [0, 2, 3, 100])
def test_a_bom_alone_is_a_record_and_a_blank_line_is_none(
    file: File, budget: int, limit: int
) -> None:
    """Only space, tab and CR are blank; what they are too long for does not matter."""
    file.append(BOM + b"\n" + b" \t \r\n" + b"\n" + BOM + b" ")
    found, _ = drained(file.fd, Cursor(), max_bytes=budget, convert_bytes=limit, final=True)
    assert [(raw.ord, raw.off, raw.size, raw.utf8) for raw in found] == [
        (1, 0, 3, True),
        (4, 10, 4, True),
    ]


def test_other_line_ends_of_unicode_are_content(file: File) -> None:
    line = "a\u2028b\u0085c\x0cd\x0be\x1cf\rg".encode()
    file.append(line + b"\n")
    (raw,) = read_lines(file.fd, Cursor()).raws
    assert raw.data == line


def test_a_whole_document_without_its_newline_waits(file: File) -> None:
    file.append(b'{"a":1}')
    assert read_lines(file.fd, Cursor()) == Tail([], Cursor(), False, 7)
    file.append(b"\n")
    assert [raw.data for raw in read_lines(file.fd, Cursor()).raws] == [b'{"a":1}']


def test_blanks_at_the_end_of_a_finished_source_are_not_consumed(file: File) -> None:
    """More may come all the same, and then they are the beginning of a line."""
    file.append(b"a\n  ")
    tail = read_lines(file.fd, Cursor(), final=True)
    assert tail.cursor == Cursor(1, 2) and tail.pending_bytes == 0
    file.append(b"b\n")
    assert [(raw.ord, raw.data) for raw in read_lines(file.fd, tail.cursor).raws] == [(2, b"  b")]


def test_a_remembered_place_spares_the_search_before_it(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long line that grows slowly is not searched from its start at each visit."""
    seen = counting(monkeypatch)
    file.append(b"x" * 100_000)
    pending = read_lines(file.fd, Cursor(), max_bytes=10).pending_bytes
    assert pending == 100_000 and seen() >= 100_000
    assert read_lines(file.fd, Cursor(), max_bytes=10, scanned_to=pending).pending_bytes == pending
    assert seen() <= 20


@pytest.mark.parametrize("scanned_to", [3, 10, 1000])
def test_a_remembered_place_past_the_end_does_no_harm(file: File, scanned_to: int) -> None:
    file.append(b"abcdef")
    tail = read_lines(file.fd, Cursor(), max_bytes=2, scanned_to=scanned_to, final=True)
    assert [raw.data for raw in tail.raws] == [b"abcdef"] and tail.cursor == Cursor(1, 6)


@pytest.mark.parametrize("limit", [10, 1000])
def test_a_source_cut_short_while_it_is_read_gives_nothing(
    file: File, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    file.append(b"x" * 100 + b"\n")
    real, calls = os.pread, iter(range(100))

    def cut_after_the_search(fd: int, size: int, off: int) -> bytes:
        if next(calls) == 2:
            os.ftruncate(fd, 50)
        return real(fd, size, off)

    monkeypatch.setattr(os, "pread", cut_after_the_search)
    tail = read_lines(file.fd, Cursor(), max_bytes=20, convert_bytes=limit)
    assert tail.raws == [] and tail.cursor == Cursor()


def test_reads_that_come_in_pieces_are_put_together(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read may return less than it was asked for anywhere, not only at the end."""
    file.append(b"first\nsecond\r\n\nthird")
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, off: real(fd, min(size, 3), off))
    tail = read_lines(file.fd, Cursor(), final=True)
    assert [raw.data for raw in tail.raws] == [b"first", b"second", b"third"]


def counting(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that says how many bytes were read since it was last asked."""
    real, read = os.pread, [0]

    def pread(fd: int, size: int, off: int) -> bytes:
        data = real(fd, size, off)
        read.append(len(data))
        return data

    def seen() -> int:
        total = sum(read)
        read.clear()
        return total

    monkeypatch.setattr(os, "pread", pread)
    return seen
