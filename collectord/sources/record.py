"""
What a reader hands on: one source record, its bytes and where they stood.

A record longer than the reader's limit is not held in memory: ``data`` is None then,
and whoever lands it reads its bytes from the source again.
"""

from typing import NamedTuple

__all__ = ["SHA_DIGITS", "Cursor", "RawRecord"]

SHA_DIGITS = 12
"""How many hex digits of the SHA-256 a landed record carries."""


class Cursor(NamedTuple):
    """How far a source has been read: its next record starts here."""

    ord: int = 0
    """Lines consumed so far; the next one is ``ord + 1``."""
    off: int = 0
    """Bytes consumed so far, line endings included."""


class RawRecord(NamedTuple):
    """One record as it stands in its source."""

    ord: int
    """Its number, from 1; blank lines count."""
    off: int
    """The byte where it starts."""
    size: int
    """Its bytes, without the line ending, with a BOM."""
    sha: str
    """The first `SHA_DIGITS` hex digits of the SHA-256 of exactly those bytes."""
    data: bytes | None
    """The bytes, or None for a record above the reader's limit."""
    utf8: bool = True
    """Of a record without ``data``: whether its bytes are valid UTF-8."""
