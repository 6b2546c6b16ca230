"""
JSON values as slices: what they are, and whether a part can hold them.

Source: docs/format.md, "Bytes".
"""

from typing import Final

import msgspec
import orjson
from msgspec import Raw

from collectord.sessiondata.rawjson import (
    MAX_PART_DEPTH,
    Member,
    NotStrict,
    compact,
    depth,
    members,
    object_of,
    quote,
    strict,
    string,
)

__all__ = [
    "NULL",
    "TRUE",
    "built_object",
    "is_text",
    "key_of",
    "may_nest",
    "number",
    "parsed",
    "refused",
    "text_of",
]

NULL: Final = Raw(b"null")
TRUE: Final = Raw(b"true")

_PLAIN_BYTES: Final = 5
"""A shorter scalar is no number that a double does not hold: ``1e999`` has five bytes."""
_SHORT_BYTES: Final = 100
_MEMORY: Final = 4096
"""How many short values, and keys, are remembered: the same few come again and again."""

_decode_number: Final = msgspec.json.Decoder(int | float).decode


class NotCompact(Exception):
    """The value has white space between its tokens."""


def check_compact(raw: Raw | bytes) -> None:
    """Raise `NotCompact` when *raw*, which is JSON, has white space between its tokens."""
    if len(compact(raw)) != len(raw):
        raise NotCompact


def opened(raw: Raw) -> tuple[dict[str, Raw], list[Member]]:
    """
    Return the members of the object *raw*, and those that a later one hides.

    Raises:
        NotStrict: It is no object.
        NotCompact: It has white space between its tokens.
    """
    found = members(raw)
    if found is not None:
        return found, []
    check_compact(raw)
    return object_of(raw)


def parsed(raw: Raw | bytes) -> tuple[object, str]:
    """
    Return (what *raw* is, why a strict parser would refuse it as a part's data).

    `collectord.sessiondata.rawjson.strict`, with the parsed value, which that throws
    away; a string is not parsed. What is written out again byte for byte is compact,
    repeats no name and is as deep as it looks, which is quicker to see than each alone.

    Raises:
        NotCompact: It has white space between its tokens.
    """
    view = bytes(raw)
    if view[:1] == b'"':
        return None, ""
    try:
        found = orjson.loads(view)
    except orjson.JSONDecodeError:
        check_compact(view)
        return None, strict(view)
    # As many brackets as levels are allowed, in strings or outside, are quickly counted.
    is_flat = view.count(b"[") + view.count(b"{") <= MAX_PART_DEPTH or _is_flat(found)
    if is_flat and orjson.dumps(found) == view:
        return found, ""
    check_compact(view)
    if may_nest(view, MAX_PART_DEPTH):
        reason = strict(view)
        if reason:
            return None, reason
    return found, ""


def _is_flat(found: object) -> bool:
    """Whether *found*, as parsed, is nested to at most `MAX_PART_DEPTH` levels."""
    level = [found] if type(found) is dict or type(found) is list else []
    for _ in range(MAX_PART_DEPTH):
        if not level:
            return True
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    return not level


def may_nest(view: bytes, levels: int) -> bool:
    """
    Whether *view* has more than *levels* opening brackets, in strings or outside.

    Looked for, not counted: twenty times as fast where there are few.
    """
    left = levels
    for bracket in (b"[", b"{"):
        at = view.find(bracket)
        while at >= 0:
            left -= 1
            if left < 0:
                return True
            at = view.find(bracket, at + 1)
    return False


def built_object(pairs: list[tuple[str, Raw]]) -> Raw:
    """Return an object of *pairs*, each value as written."""
    pieces: list[bytes | Raw] = [b"{"]
    for path, value in pairs:
        pieces += (key_of(path), value, b",")
    if pairs:
        pieces.pop()
    pieces.append(b"}")
    return Raw(b"".join(pieces))


def refused(value: Raw | bytes) -> bool:
    """Whether the trailing part cannot hold *value*: no strict JSON, or one level too deep."""
    view = bytes(value)
    if view[:1] == b'"' or (len(view) < _PLAIN_BYTES and view[:1] not in b"[{"):
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
    if parsed(view)[1]:
        return True
    return may_nest(view, MAX_PART_DEPTH - 1) and depth(view) >= MAX_PART_DEPTH


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


def key_of(path: str) -> bytes:
    """Return ``"path":``, and remember it."""
    known = _keys.get(path)
    if known is not None:
        return known
    if len(_keys) >= _MEMORY:
        _keys.clear()
    found = _keys[path] = bytes(quote(path)) + b":"
    return found
