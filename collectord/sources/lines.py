"""
Read what an append-only source has gained since a cursor.

Only the byte ``\\n`` ends a record (U+2028, U+0085 and a form feed are content), one
``\\r`` before it belongs to the line ending. A line without its newline is a write in
progress, however long it waits and even if it parses; it lands only where someone says
that the source is finished. A blank line counts and has no record. Nothing is held
beyond the read's budget: a line above the limit is digested in pieces.

Source: docs/format.md, "Bytes" and "Sources".
"""

import hashlib
import os
from typing import Final, NamedTuple

from collectord.sources.long_record import long_record
from collectord.sources.record import SHA_DIGITS, Cursor, RawRecord

__all__ = ["BOM", "READ_BUDGET_BYTES", "Tail", "read_lines"]

READ_BUDGET_BYTES: Final = 1 << 20
"""What one turn of one source reads, so that no source delays the others."""

BOM: Final = b"\xef\xbb\xbf"
_CHUNK: Final = 1 << 20
_CR: Final = 13
_BLANK: Final = b" \t\r"


class Tail(NamedTuple):
    """What one read found."""

    raws: list[RawRecord]
    cursor: Cursor
    """Where the next read starts, once these are landed."""
    more: bool
    """Whether the read stopped at its budget, not at the end of the file."""
    pending_bytes: int
    """Bytes at the end that are no record yet, because their newline is missing."""


def read_lines(
    fd: int,
    cursor: Cursor,
    *,
    max_bytes: int = READ_BUDGET_BYTES,
    convert_bytes: int = 32 << 20,
    final: bool = False,
    scanned_to: int = 0,
) -> Tail:
    """
    Return the whole lines of *fd* from *cursor* on.

    Args:
        fd: A regular file, open for reading; its offset is not used.
        cursor: Where the previous read stopped.
        max_bytes: Budget in bytes; one line longer than it is read all the same.
        convert_bytes: A longer record is not held: its ``data`` is None.
        final: The source is finished, so what follows the last newline is a record, with its
            ``\r`` if it ends in one; blanks there are not consumed.
        scanned_to: Byte up to which an earlier read found no newline after the cursor.

    Raises:
        OSError: The file cannot be read; the cursor is still good.
    """
    block = _pread(fd, max_bytes, cursor.off)
    end = block.rfind(b"\n") + 1
    at_end = len(block) < max_bytes
    if end or at_end:
        raws, cursor = _split(block[:end], cursor, convert_bytes)
        rest = block[end:]
        if not (final and at_end):
            return Tail(raws, cursor, not at_end, len(rest) if at_end else 0)
        if rest.strip(_BLANK):
            raws.append(_record(rest, cursor, convert_bytes))
            cursor = Cursor(cursor.ord + 1, cursor.off + len(rest))
        return Tail(raws, cursor, False, 0)
    return _one_line(fd, cursor, len(block), convert_bytes, final, scanned_to)


def _split(block: bytes, cursor: Cursor, convert_bytes: int) -> tuple[list[RawRecord], Cursor]:
    """Turn whole lines into records."""
    raws = []
    number, off = cursor
    lines = block.split(b"\n")
    lines.pop()
    sha256 = hashlib.sha256
    for line in lines:
        number += 1
        size = len(line)
        if size > convert_bytes:
            if line.strip(_BLANK):
                data = line.removesuffix(b"\r")
                raws.append(_record(data, Cursor(number - 1, off), convert_bytes))
        elif line and (line[0] not in _BLANK or line.strip(_BLANK)):
            data = line[:-1] if line[-1] == _CR else line
            sha = sha256(data).hexdigest()[:SHA_DIGITS]
            raws.append(RawRecord(number, off, len(data), sha, data))
        off += size + 1
    return raws, Cursor(number, off)


def _record(data: bytes, at: Cursor, convert_bytes: int) -> RawRecord:
    """Return the record that starts at *at*, without its bytes where they are too many."""
    sha = hashlib.sha256(data).hexdigest()[:SHA_DIGITS]
    if len(data) <= convert_bytes:
        return RawRecord(at.ord + 1, at.off, len(data), sha, data)
    try:
        data.decode()
    except UnicodeDecodeError:
        return RawRecord(at.ord + 1, at.off, len(data), sha, None, False)
    return RawRecord(at.ord + 1, at.off, len(data), sha, None)


def _one_line(
    fd: int, cursor: Cursor, known: int, convert_bytes: int, final: bool, scanned_to: int
) -> Tail:
    """Read the one line at *cursor*, which is longer than the budget (its first *known* bytes)."""
    at = max(cursor.off + known, min(scanned_to, os.fstat(fd).st_size))
    while True:
        chunk = _pread(fd, _CHUNK, at)
        newline = chunk.find(b"\n")
        if newline >= 0:
            stop, ended = at + newline, True
            break
        at += len(chunk)
        if len(chunk) < _CHUNK:
            stop, ended = at, False
            break
    if not ended and not final:
        return Tail([], cursor, False, stop - cursor.off)
    size = stop - cursor.off
    if ended and os.pread(fd, 1, stop - 1) == b"\r":
        size -= 1
    after = Cursor(cursor.ord + 1, stop + 1 if ended else stop)
    if size <= convert_bytes:
        data = _pread(fd, size, cursor.off)
        raw = _record(data, cursor, convert_bytes) if data.strip(_BLANK) else None
        whole = len(data) == size
    else:
        blank = _is_blank(fd, cursor.off, size)
        raw = None if blank else long_record(fd, cursor.ord + 1, cursor.off, size)
        whole = blank or raw is not None
    if not whole or (raw is None and not ended):
        return Tail([], cursor, False, 0)
    return Tail([raw] if raw else [], after, ended, 0)


def _is_blank(fd: int, off: int, size: int) -> bool:
    """Return whether *size* bytes from *off* are there and blank."""
    while size > 0:
        chunk = _pread(fd, min(_CHUNK, size), off)
        if not chunk or chunk.strip(_BLANK):
            return False
        off += len(chunk)
        size -= len(chunk)
    return True


def _pread(fd: int, size: int, off: int) -> bytes:
    """Read *size* bytes, fewer only at the end of the file."""
    data = os.pread(fd, size, off)
    if len(data) == size or not data:
        return data
    pieces = [data]
    got = len(data)
    while got < size:
        data = os.pread(fd, size - got, off + got)
        if not data:
            break
        pieces.append(data)
        got += len(data)
    return b"".join(pieces)
