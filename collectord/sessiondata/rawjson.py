"""
JSON taken apart without being turned into Python objects.

sd/1 keeps the source's own bytes: ``1.10`` stays ``1.10``, a 30-digit integer keeps
its digits, a repeated key stays repeated. So values travel as raw slices, and only
what a role field needs is decoded. Everything here is strict: what these functions
accept, any strict parser reads.

Source: docs/format.md, "Bytes".
"""

import re
from typing import Final, NamedTuple

import msgspec
import orjson
from msgspec import Raw

__all__ = [
    "MAX_PART_DEPTH",
    "MAX_RECORD_DEPTH",
    "Member",
    "NotStrict",
    "array",
    "compact",
    "depth",
    "members",
    "object_of",
    "pairs",
    "quote",
    "replace_lone_surrogates",
    "strict",
    "string",
]

MAX_PART_DEPTH: Final = 100
"""Deepest nesting inside a part's data; strict parsers stop not far above."""

MAX_RECORD_DEPTH: Final = 400
"""Deepest nesting of a source record that is taken apart; a fixed number, so that the
result does not depend on how deep the caller's own stack is."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
"""Possessive: with ways back to keep, a string of 20 MB costs 2 GB and eight seconds."""

_SPACE: Final = b" \t\r\n"
_decode_members: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_array: Final = msgspec.json.Decoder(list[Raw]).decode
_decode_string: Final = msgspec.json.Decoder(str).decode
_encode: Final = msgspec.json.Encoder().encode


class NotStrict(ValueError):
    """The bytes are not JSON that every strict parser reads; the message says why."""


class Member(NamedTuple):
    """One member of an object, as written."""

    key: str
    value: Raw
    size: int
    """Bytes of key, colon and value, without white space between them."""


def members(raw: Raw | bytes) -> dict[str, Raw] | None:
    """
    Return an object's members in order, or None where that would lose something.

    None means that the object repeats a key, escapes one, or has white space between
    its tokens: then `pairs` of the `compact` form tells all. The check costs no scan:
    in a compact object, keys, values and punctuation add up to its size.

    Raises:
        NotStrict: The bytes are not an object.
    """
    try:
        found = _decode_members(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotStrict(str(error)) from None
    size = 1 + sum(map(len, found)) + sum(map(len, found.values())) + 4 * len(found)
    if size == len(raw) or (not found and len(raw) == 2):
        return found
    size += sum(len(key.encode()) - len(key) for key in found)
    return found if size == len(raw) else None


def object_of(raw: Raw | bytes) -> tuple[dict[str, Raw], list[Member]]:
    """
    Return (the members, those that a later one with the same key hides).

    The first is what a parser of today sees: the last of several equal keys. Nothing
    is lost, because the hidden ones come beside it. *raw* is compact.

    Raises:
        NotStrict: The bytes are not an object.
    """
    found = members(raw)
    if found is not None:
        return found, []
    last: dict[str, Member] = {}
    hidden: list[Member] = []
    for member in pairs(raw):
        if member.key in last:
            hidden.append(last[member.key])
        last[member.key] = member
    return {key: member.value for key, member in last.items()}, hidden


def array(raw: Raw | bytes) -> list[Raw]:
    """Return an array's elements. Raises `NotStrict` when it is none."""
    try:
        return _decode_array(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotStrict(str(error)) from None


def string(raw: Raw | bytes) -> str:
    """Return the string that *raw* is. Raises `NotStrict` when it is none."""
    try:
        return _decode_string(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotStrict(str(error)) from None


def quote(text: str) -> Raw:
    """Return *text* as a JSON string."""
    return Raw(_encode(text))


def compact(raw: Raw | bytes) -> Raw:
    """
    Return the same tokens without white space between them.

    Raises:
        NotStrict: The bytes are not JSON.
    """
    try:
        return Raw(msgspec.json.format(bytes(raw), indent=-1))
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotStrict(str(error)) from None


def strict(raw: Raw | bytes) -> str:
    """
    Return why a strict parser would refuse *raw* as the data of a part; "" when it reads it.

    Refused: a number that no double holds, nesting past `MAX_PART_DEPTH`. *raw* is a value
    of a line that is UTF-8 and holds no lone surrogate, so a string needs no look.
    """
    view = bytes(raw)
    if view[:1] == b'"':
        return ""
    try:
        orjson.loads(view)
    except orjson.JSONDecodeError as error:
        return f"a strict parser refuses it: {error.msg}"
    if view.count(b"[") + view.count(b"{") > MAX_PART_DEPTH and depth(view) > MAX_PART_DEPTH:
        return f"nested deeper than {MAX_PART_DEPTH} levels"
    return ""


def depth(raw: bytes) -> int:
    """Return how deep the brackets outside strings nest."""
    deepest = level = 0
    for byte in _STRING.sub(b"", raw):
        if byte in b"[{":
            level += 1
            deepest = max(deepest, level)
        elif byte in b"]}":
            level -= 1
    return deepest


def replace_lone_surrogates(raw: bytes) -> tuple[bytes, int]:
    """
    Return *raw* with each UTF-16 escape that has no partner as ``\\ufffd``, and the bytes replaced.

    JavaScript runtimes write them when they cut text in the middle of a character. The
    replacement has the same length, so offsets do not move.
    """
    replaced = 0

    def repair(found: re.Match[bytes]) -> bytes:
        nonlocal replaced
        if found["lone"] is None:
            return found[0]
        replaced += 6
        return b"\\ufffd"

    return _ESCAPE.sub(repair, raw), replaced


_ESCAPE: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\[^uU]",
    re.DOTALL,
)
"""A pair, a lone half, or any other escape (so that an escaped backslash hides no ``u``)."""


def pairs(raw: Raw | bytes) -> list[Member]:
    """
    Return every member of the object *raw* in order, repeated keys included.

    The careful way, in Python; `members` is the quick one and says when it will not do.
    *raw* is JSON already seen to be well formed.
    """
    view = bytes(raw)
    at = _skip_space(view, 0)
    if view[at : at + 1] != b"{":
        raise NotStrict("not an object")
    at = _skip_space(view, at + 1)
    found: list[Member] = []
    while view[at : at + 1] != b"}":
        key_end = _value_end(view, at)
        key = view[at:key_end]
        at = _skip_space(view, key_end)
        at = _skip_space(view, at + 1)  # the colon
        end = _value_end(view, at)
        value = Raw(view[at:end])
        found.append(Member(string(key), value, len(key) + 1 + len(value)))
        at = _skip_space(view, end)
        if view[at : at + 1] == b",":
            at = _skip_space(view, at + 1)
    return found


def _skip_space(view: bytes, at: int) -> int:
    while at < len(view) and view[at] in _SPACE:
        at += 1
    return at


_DELIMITER: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^,\]}\s]*")


def _value_end(view: bytes, at: int) -> int:
    """Return where the value that starts at *at* ends."""
    first = view[at : at + 1]
    if first == b'"':
        matched = _STRING.match(view, at)
        if matched is None:
            raise NotStrict("a string does not end")
        return matched.end()
    if first not in (b"[", b"{"):
        scalar = _SCALAR.match(view, at)
        if scalar is None or scalar.end() == at:
            raise NotStrict("a value is missing")
        return scalar.end()
    level = 0
    for token in _DELIMITER.finditer(view, at):
        if token[0] in (b"[", b"{"):
            level += 1
        elif token[0] in (b"]", b"}"):
            level -= 1
            if level == 0:
                return token.end()
    raise NotStrict("an array or object does not end")
