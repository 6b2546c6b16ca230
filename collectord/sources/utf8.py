"""Whether a range of a file is valid UTF-8, without holding it."""

import codecs
import os
from typing import Final

__all__ = ["range_is_utf8"]

_CHUNK: Final = 1 << 20


def range_is_utf8(fd: int, off: int, size: int) -> bool:
    """Return whether *size* bytes from *off* are valid UTF-8 (False when there are fewer)."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    while size > 0:
        chunk = os.pread(fd, min(size, _CHUNK), off)
        if not chunk:
            return False
        off += len(chunk)
        size -= len(chunk)
        try:
            decoder.decode(chunk, final=size == 0)
        except UnicodeDecodeError:
            return False
    return True
