"""
A record while it is being taken apart, and where each of its bytes went.

Every member ends in one of a few places; the code that decides says which, and when an
audit asks, the ledger adds the member's size there. What is in no member (commas,
brackets, white space, a BOM) is syntax, so the seven sums always add up to the source's
size, and a test counts the punctuation by itself.

Source: docs/format.md, "Nothing disappears silently".
"""

from typing import Final

from msgspec import Raw

from collectord.adapter import Account
from collectord.sessiondata import Dropped, Part, State
from collectord.sessiondata.rawjson import (
    MAX_PART_DEPTH,
    NotStrict,
    depth,
    object_of,
    pairs,
    quote,
    strict,
    string,
)

__all__ = [
    "NULL",
    "Draft",
    "Keys",
    "Ledger",
    "built_object",
    "refused",
    "text_of",
    "unknown_members",
    "unknown_part",
]

NULL: Final = Raw(b"null")
_NAMED: Final = 6
"""How many unknown members a part's text names before it counts the rest."""

_PLAIN_BYTES: Final = 5
"""A shorter value holds no number that a double does not: ``1e999`` has five bytes."""

Keys = dict[str, int]
"""Bytes of each key of one object as written, with its colon."""


class Ledger:
    """The sums of one record."""

    __slots__ = ("sums",)

    def __init__(self) -> None:
        self.sums = {"part": 0, "role": 0, "header": 0, "trailing": 0, "dropped": 0, "unknown": 0}

    def keys_of(self, raw: Raw) -> Keys:
        """Return the sizes of the keys of the object *raw*; of several equal ones, the last's."""
        return {member.key: member.size - len(member.value) for member in pairs(raw)}

    def account(self, size: int) -> Account:
        """Return the sums of a record of *size* bytes."""
        return Account(**self.sums, syntax=size - sum(self.sums.values()))


class Draft:
    """What has been found so far."""

    __slots__ = ("dropped", "is_suspect", "kept", "ledger", "parts", "results", "unknown")

    def __init__(self, ledger: Ledger | None) -> None:
        self.ledger = ledger
        self.parts: list[Part] = []
        self.results: list[Part] = []
        """Those of the parts that are results."""
        self.kept: list[tuple[str, Raw]] = []
        self.unknown: list[tuple[str, Raw]] = []
        self.dropped: list[Dropped] = []
        self.is_suspect = False
        """Something was not taken apart, so the record may be nested too deeply."""

    def open(self, raw: Raw, path: str) -> dict[str, Raw]:
        """
        Return the members of the object *raw*; those that a later one hides become unknown.

        Raises:
            NotStrict: It is no object.
        """
        found, hidden = object_of(raw)
        for member in hidden:
            self.unknown.append((path + member.key, member.value))
            self.add("unknown", member.size)
        return found

    def keep(self, path: str, value: Raw) -> str:
        """Keep a member in the trailing part, unless it is null; return its place."""
        if value == NULL:
            return "trailing"
        if refused(value):
            return self.leave(path, value)
        self.kept.append((path, value))
        return "trailing"

    def leave(self, path: str, value: Raw) -> str:
        """Note a member that the dialect does not describe; return its place."""
        self.unknown.append((path, value))
        return "unknown"

    def add(self, place: str, size: int) -> None:
        """Account *size* bytes to *place*."""
        if self.ledger is not None:
            self.ledger.sums[place] += size

    def put(self, raw: Raw, reason: str) -> None:
        """Append content that cannot be described as an unknown part."""
        self.parts.append(unknown_part(raw, reason))
        self.is_suspect = True

    def put_data(self, raw: Raw) -> str:
        """Append *raw* as a data part, or as an unknown one where that is not strict JSON."""
        reason = strict(raw)
        if reason:
            self.put(raw, reason)
            return "unknown"
        self.parts.append(Part(k="data", data=raw, state=State.AVAILABLE, bytes=len(raw)))
        return "part"


def unknown_part(raw: Raw | bytes, reason: str) -> Part:
    """Return *raw*, which is UTF-8, as an unknown part: its bytes as one JSON string."""
    data = bytes(raw)
    return Part(
        k="unknown",
        text=reason,
        data=quote(data.decode()),
        state=State.AVAILABLE,
        bytes=len(data),
    )


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


def unknown_members(members: list[tuple[str, Raw]]) -> Part:
    """Return the part that holds the members which no list names."""
    names = [path if len(path) <= 60 else path[:59] + "…" for path, _ in members[:_NAMED]]
    rest = len(members) - len(names)
    more = f" and {rest} more" if rest else ""
    reason = f"members this dialect does not describe: {', '.join(names)}{more}"
    return unknown_part(built_object(members), reason)


_keys: dict[str, bytes] = {}


def _key(path: str) -> bytes:
    """Return ``"path":``; the same few come again and again."""
    found = _keys.get(path)
    if found is None:
        if len(_keys) >= 4096:
            _keys.clear()
        found = _keys[path] = bytes(quote(path)) + b":"
    return found
