"""
A record that is too long to be held: digested, and checked for UTF-8, in pieces.

Whoever lands it reads its bytes from the source again.
"""

import codecs
import hashlib
import os
from typing import Final

from collectord.sources.record import SHA_DIGITS, RawRecord

__all__ = ["long_record"]

_CHUNK: Final = 1 << 20


def long_record(fd: int, ord_: int, off: int, size: int) -> RawRecord | None:
    """Return the record of *size* bytes from *off*, without them; None: fewer are there."""
    digest = hashlib.sha256()
    decoder = codecs.getincrementaldecoder("utf-8")()
    utf8 = True
    at, left = off, size
    while left > 0:
        chunk = os.pread(fd, min(_CHUNK, left), at)
        if not chunk:
            return None
        digest.update(chunk)
        at += len(chunk)
        left -= len(chunk)
        if utf8:
            try:
                decoder.decode(chunk, final=left == 0)
            except UnicodeDecodeError:
                utf8 = False
    return RawRecord(ord_, off, size, digest.hexdigest()[:SHA_DIGITS], None, utf8)
