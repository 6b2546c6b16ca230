"""
Values of a usual line: what is a text, and what a part holds as it stands.

The scan has seen that they are JSON, so a string is strict and compact by itself, and so
is a short number; only arrays, objects and long numbers need a second look.
"""

from typing import Final

import msgspec
import orjson
from msgspec import Raw

from collectord_adapters.claude_code.values import refused

__all__ = [
    "Unusual",
    "end_of_object",
    "is_plain",
    "kept_piece",
    "least_bytes",
    "string_of",
    "text_of",
    "text_or_blocks",
    "utf8_bytes",
]


class Unusual(Exception):
    """The line is not one of the usual ones: the careful way takes it."""


_QUOTE: Final = ord('"')
_BRACE: Final = ord("{")
_WORDS: Final = frozenset(b"tfn")
"""How ``true``, ``false`` and ``null`` begin."""
_DIGITS: Final = frozenset(b"0123456789")
_PLAIN_BYTES: Final = 5
"""A shorter number is one that a double holds: ``1e999`` has five bytes."""
_FEW_BRACKETS: Final = 90
"""With no more of them, in strings or outside, no value is nested too deeply for a part."""
_FEW_LEVELS: Final = 8
_SMALL_BYTES: Final = 256
"""A smaller object is parsed and written again faster than it is walked through."""

string_of: Final = msgspec.json.Decoder(str).decode
"""Return the string that a slice is. Raises `msgspec.DecodeError`."""
text_of: Final = msgspec.json.Decoder(str | None).decode
"""Return the string that a slice is, or None for null. Raises `msgspec.DecodeError`."""
text_or_blocks: Final = msgspec.json.Decoder(str | list[dict[str, Raw]]).decode
"""Return the string or the list of objects that a slice is. Raises `msgspec.DecodeError`."""
_members_of: Final = msgspec.json.Decoder(dict[str, Raw]).decode


def end_of_object(view: bytes, at: int, found: dict[str, Raw], levels: int = _FEW_LEVELS) -> int:
    """
    Return where the object with the members *found*, which starts at *at*, ends.

    It holds only if the object is compact and repeats no name, which the caller's own
    sum shows. Each value is one that a part can hold.

    Raises:
        Unusual: That is not certain of one of them.
    """
    if not found:
        return at + 2
    for key, value in found.items():
        at += len(key) + 4
        size = len(value)
        first = view[at]
        if first == _QUOTE or first in _WORDS or (size < _PLAIN_BYTES and first in _DIGITS):
            pass
        elif first == _BRACE and size >= _SMALL_BYTES:
            if not levels or end_of_object(view, at, _members_of(value), levels - 1) != at + size:
                raise Unusual
        elif not is_plain(view[at : at + size]):
            raise Unusual
        at += size
    return at + 1


def is_plain(view: bytes, found: object = None) -> bool:
    """
    Whether *view* is compact, strict, flat and without repeated names, seen quickly.

    *found* is what it is when parsed, where the caller has that. Raises `ValueError`
    where no strict parser reads it.
    """
    return (
        view.count(b"[") + view.count(b"{") <= _FEW_BRACKETS
        and orjson.dumps(orjson.loads(view) if found is None else found) == view
    )


def kept_piece(name: bytes, value: Raw) -> bytes:
    """
    Return the member of the trailing part, *name* (with its colon) and *value*; b"" for null.

    Raises:
        Unusual: The trailing part cannot hold it.
        NotCompact: It has white space between its tokens.
    """
    view = bytes(value)
    if view[0] != _QUOTE and view != b"true":
        if view == b"null":
            return b""
        if refused(view):
            raise Unusual
    return name + view


def utf8_bytes(text: str) -> int:
    """Return the size of *text*."""
    return len(text) if text.isascii() else len(text.encode())


def least_bytes(text: str) -> int:
    """Return the size of *text* as the JSON string that has no more escapes than it must."""
    return len(orjson.dumps(text))
