"""
Read a source that is rewritten whole: a sidecar, a manifest, a script.

One version is one record: ``ord`` 1, ``off`` 0, the file without its trailing newlines.
A version counts when it parses as JSON, or has been left alone for `STABLE_S`: writers
truncate and write in pieces, and half a document is not one.
"""

import hashlib
import os
import re
import time
from typing import Final, NamedTuple

import msgspec

from collectord.sources.lines import BOM
from collectord.sources.long_record import long_record
from collectord.sources.record import SHA_DIGITS, RawRecord

__all__ = ["STABLE_S", "Version", "read_document"]

STABLE_S: Final = 2.0
"""Seconds without a change after which a document that does not parse is taken as it is."""

_CHUNK: Final = 1 << 20
_TAIL: Final = 4096
_NEWLINES: Final = re.compile(rb"(?:\r?\n)*+\Z")


class Version(NamedTuple):
    """What one read of a document found."""

    raw: RawRecord | None
    """None: an empty file, or one that is still being written."""
    wait_s: float = 0.0
    """When ``raw`` is None and this is above 0: look again after so many seconds."""
    pending_bytes: int = 0


def read_document(
    fd: int, *, convert_bytes: int = 32 << 20, final: bool = False, now: float | None = None
) -> Version:
    """
    Return the document's present version.

    Args:
        fd: A regular file, open for reading.
        convert_bytes: A larger document is not held: its ``data`` is None.
        final: The source is finished; what is there is taken as it is.
        now: The time to measure the file's age with, as ``time.time()``.

    Raises:
        OSError: The file cannot be read.
    """
    found = os.fstat(fd)
    size = found.st_size - _trailing_newlines(fd, found.st_size)
    if size <= 0:
        return Version(None)
    age = (time.time() if now is None else now) - found.st_mtime
    # A time in the future says nothing, and waiting for it could last for ever.
    wait = STABLE_S - age if 0 <= age < STABLE_S else 0.0
    if size > convert_bytes:
        if wait > 0 and not final:
            return Version(None, wait, size)
        long = long_record(fd, 1, 0, size)
        return Version(long) if long else Version(None, STABLE_S, size)
    data = os.pread(fd, size, 0)
    if len(data) < size:  # it was truncated meanwhile
        return Version(None, STABLE_S, size)
    if wait > 0 and not final and not _parses(data):
        return Version(None, wait, size)
    sha = hashlib.sha256(data).hexdigest()[:SHA_DIGITS]
    return Version(RawRecord(1, 0, size, sha, data))


def _parses(data: bytes) -> bool:
    try:
        msgspec.json.decode(data.removeprefix(BOM), type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _trailing_newlines(fd: int, size: int) -> int:
    """Count the newline bytes (and the one ``\\r`` before each) at the end."""
    at = size
    while at > 0:
        start = max(0, at - _TAIL)
        block = os.pread(fd, at - start, start)
        found = _NEWLINES.search(block)
        kept = found.start() if found else len(block)
        if kept or not start:
            return size - (start + kept)
        # A newline at the block's start may have its \\r before it.
        at = start + block.startswith(b"\n")
    return size
