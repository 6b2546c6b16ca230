"""
One source record to the bytes of its landed line.

A record that is too long to be parsed becomes one ``unknown`` part, written in pieces:
its digest and UTF-8 check were the first pass over it, escaping is the second. A
dialect that fails on a record costs nothing but its understanding: the bytes land.

Source: docs/format.md, "Bytes".
"""

import base64
import codecs
import os
from collections.abc import Iterator
from typing import Final

import msgspec
import structlog
from structlog.typing import FilteringBoundLogger

from collectord.adapter import Context, Dialect, Source, verbatim
from collectord.sessiondata import From, Part, Record, State, encode, encode_onto
from collectord.sources import RawRecord

__all__ = ["land_line", "long_line"]

log: FilteringBoundLogger = structlog.get_logger()

MAX_KEPT_BYTES: Final = 2 << 30
"""A record beyond this is cut to its first `CUT_BYTES`, and says so."""
CUT_BYTES: Final = 1 << 20

_CHUNK: Final = 3 << 18  # a multiple of 3, for base64
_DATA: Final = b'"data":"0"'  # not empty: an empty value is not written


def land_line(
    lines: bytearray, raw: RawRecord, source: Source, dialect: Dialect, context: Context
) -> tuple[Context, int]:
    """
    Append the line of *raw* (whose ``data`` is held) in a file of *source* to *lines*.

    Returns the context of the next record, and how many members the dialect did not describe.
    """
    size = len(lines)
    try:
        converted = dialect.convert(raw, source, context)
        encode_onto(lines, converted.record)
    except Exception as error:  # noqa: BLE001 - the plug-in boundary: the bytes land all the same
        reason = f"{dialect.name} failed on it ({type(error).__name__})"
        log.error("record.unknown", src=source.src, ord=raw.ord, reason=reason)
        del lines[size:]
        converted = verbatim(raw, reason, context)
        encode_onto(lines, converted.record)
    return converted.context, converted.unknown_members


def long_line(fd: int, raw: RawRecord, convert_bytes: int) -> Iterator[bytes]:
    """
    Yield the line of a record without ``data`` in pieces, reading its bytes from *fd*.

    Raises:
        OSError: The source cannot be read, or became shorter meanwhile.
    """
    kept = raw.size if raw.size <= MAX_KEPT_BYTES else CUT_BYTES
    part = Part(
        k="unknown",
        text=f"longer than {convert_bytes} bytes, so it was not parsed",
        data=msgspec.Raw(b'"0"'),
        encoding="" if raw.utf8 else "base64",
        state=State.AVAILABLE if kept == raw.size else State.TRUNCATED,
        bytes=raw.size,
    )
    record = Record(
        ord=raw.ord, off=raw.off, sha=raw.sha, bytes=raw.size, from_=From.RUNTIME, parts=[part]
    )
    head, _, tail = encode(record).partition(_DATA)
    yield head + _DATA[:-2]
    yield from _escaped(fd, raw, kept) if raw.utf8 else _base64(fd, raw, kept)
    yield _DATA[-1:] + tail


def _escaped(fd: int, raw: RawRecord, kept: int) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    for chunk in _chunks(fd, raw.off, kept):
        yield msgspec.json.encode(decoder.decode(chunk))[1:-1]
    # What is left in the decoder is a character that the cut went through.


def _base64(fd: int, raw: RawRecord, kept: int) -> Iterator[bytes]:
    for chunk in _chunks(fd, raw.off, kept):
        yield base64.b64encode(chunk)


def _chunks(fd: int, off: int, size: int) -> Iterator[bytes]:
    while size > 0:
        wanted = min(size, _CHUNK)
        chunk = os.pread(fd, wanted, off)
        while len(chunk) < wanted and (more := os.pread(fd, wanted - len(chunk), off + len(chunk))):
            chunk += more
        if len(chunk) < wanted:
            raise OSError("the source became shorter while it was read")
        off += wanted
        size -= wanted
        yield chunk
