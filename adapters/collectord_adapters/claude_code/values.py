"""
JSON values as slices: what they are, and whether a part can hold them.

Source: docs/format.md, "Bytes".
"""

from typing import Final

import msgspec
from msgspec import Raw

from collectord.sessiondata.rawjson import (
    MAX_PART_DEPTH,
    NotStrict,
    depth,
    quote,
    strict,
    string,
)

__all__ = ["NULL", "TRUE", "built_object", "is_text", "number", "refused", "text_of"]

NULL: Final = Raw(b"null")
TRUE: Final = Raw(b"true")

_PLAIN_BYTES: Final = 5
"""A shorter value holds no number that a double does not: ``1e999`` has five bytes."""
_SHORT_BYTES: Final = 100
_MEMORY: Final = 4096
"""How many short values, and keys, are remembered: the same few come again and again."""

_decode_number: Final = msgspec.json.Decoder(int | float).decode


def built_object(members: list[tuple[str, Raw]]) -> Raw:
    """Return an object of *members*, each value as written."""
    pieces: list[bytes | Raw] = [b"{"]
    for path, value in members:
        pieces += (_key(path), value, b",")
    if members:
        pieces.pop()
    pieces.append(b"}")
    return Raw(b"".join(pieces))


def refused(value: Raw) -> bool:
    """Whether the trailing part cannot hold *value*: no strict JSON, or one level too deep."""
    view = bytes(value)
    if view[:1] == b'"' or len(view) < _PLAIN_BYTES:
        return False
    if len(view) > _SHORT_BYTES:
        return _is_refused(view)
    known = _short.get(view)
    if known is None:
        if len(_short) >= _MEMORY:
            _short.clear()
        known = _short[view] = _is_refused(view)
    return known


def _is_refused(view: bytes) -> bool:
    return bool(strict(view)) or (
        view.count(b"[") + view.count(b"{") >= MAX_PART_DEPTH and depth(view) >= MAX_PART_DEPTH
    )


def text_of(found: dict[str, Raw], key: str) -> str:
    """Return the string that the member *key* is; "" when it is absent or something else."""
    value = found.get(key)
    if value is None:
        return ""
    try:
        return string(value)
    except NotStrict:
        return ""


def is_text(value: Raw | None, text: str | None = None) -> bool:
    """Whether *value* is a JSON string, and is *text* where one is given."""
    if value is None:
        return False
    try:
        found = string(value)
    except NotStrict:
        return False
    return text is None or found == text


def number(value: Raw) -> int | float | None:
    """Return the JSON number *value*; None when it is none, or none that 64 bits hold."""
    try:
        found = _decode_number(value)
    except (msgspec.DecodeError, RecursionError):
        return None
    if isinstance(found, int):
        return found if -(1 << 63) <= found < 1 << 63 else None
    is_integer = not any(mark in bytes(value) for mark in (b".", b"e", b"E"))
    return None if is_integer or found in (float("inf"), float("-inf")) else found


_short: dict[bytes, bool] = {}
_keys: dict[str, bytes] = {}


def _key(path: str) -> bytes:
    """Return ``"path":``."""
    found = _keys.get(path)
    if found is None:
        if len(_keys) >= _MEMORY:
            _keys.clear()
        found = _keys[path] = bytes(quote(path)) + b":"
    return found
