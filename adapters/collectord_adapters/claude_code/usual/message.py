"""
The ``message`` of a usual line: who speaks, in which call, with what usage.

Source: docs/dialects/claude-code.md, "Members of a message record or attachment record".
"""

from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw

from collectord.sessiondata import Dropped, Part, Usage
from collectord_adapters.claude_code.members import MESSAGE_HEADER, MESSAGE_KEPT, USAGE
from collectord_adapters.claude_code.steps import shape_size
from collectord_adapters.claude_code.usual.blocks import take_blocks
from collectord_adapters.claude_code.usual.scan import Message
from collectord_adapters.claude_code.usual.values import Unusual, kept_piece, text_of
from collectord_adapters.claude_code.values import NULL, key_of

__all__ = ["Said", "take_message"]

_SHAPES: Final = 256
_USAGES: Final = 64
"""How many ``usage`` objects are remembered, none larger than `_USAGE_BYTES`."""
_USAGE_BYTES: Final = 4096
_TOO_LARGE: Final = 1 << 63
_SYNTHETIC: Final = "<synthetic>"
_MESSAGE_WORD: Final = Raw(b'"message"')
_ROLES: Final = {True: Raw(b'"assistant"'), False: Raw(b'"user"')}
_members_of: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_number: Final = msgspec.json.Decoder(int | float).decode


class Said(NamedTuple):
    """What a message says beside its content."""

    end: int
    """Where it ends in the line."""
    call: str
    model: str
    is_finished: bool
    usage: Usage | None


class _Shape:
    """The names of a message's members, in order, and what follows from them."""

    __slots__ = ("ahead", "behind", "content", "fixed", "has_call", "known")

    def __init__(self, keys: tuple[str, ...]) -> None:
        place = self.content = keys.index("content")
        if "usage" in keys[:place]:
            raise Unusual
        self.ahead = sum(len(key) + 4 for key in keys[: place + 1])
        """Bytes of the names and the punctuation before the content."""
        self.behind = sum(len(key) + 4 for key in keys[place + 1 :]) + 1
        """And behind it."""
        again = [key for key in keys if key not in ("id", "content", "stop_reason", "usage")]
        # The first twice, so that it is a tuple in any case.
        self.fixed = itemgetter(again[0], *again) if again else itemgetter("content", "content")
        """Takes out the members that are nearly always the same."""
        self.has_call = not {"id", "model", "stop_reason", "usage"}.isdisjoint(keys)
        self.known: tuple[tuple[Any, ...], bool, str] | None = None
        """Those members, whether the model speaks, and which, when they last were usual."""


def take_message(
    message: Message,
    is_agent: bool,
    view: bytes,
    at: int,
    parts: list[Part],
    dropped: list[Dropped],
    pieces: list[bytes],
) -> Said:
    """
    Append what *message*, an object that starts at *at*, becomes.

    Raises `Unusual` and what decoding raises.
    """
    keys = tuple(message)
    shape = _shapes.get(keys)
    if shape is None:
        shape = _learn(keys)
    place = shape.content
    values = list(message.values())
    start = at + shape.ahead + sum(map(len, values[:place]))
    end = take_blocks(values[place], view, start, parts, dropped, pieces)
    end += shape.behind + sum(map(len, values[place + 1 :]))
    fixed = shape.fixed(message)
    known = shape.known
    if known is None or known[1] is not is_agent or known[0] != fixed:
        known = shape.known = _fixed(message, shape, is_agent)
    if not shape.has_call:
        return Said(end, "", "", False, None)
    found = message.get("id")
    call = (text_of(found) or "") if found is not None else ""
    found = message.get("stop_reason")
    is_finished = found is not None and bool(text_of(found))
    found = message.get("usage")
    if found is None:
        return Said(end, call, known[2], is_finished, None)
    usage, kept = _usage(bytes(found))
    pieces += kept
    return Said(end, call, known[2], is_finished, usage)


def _learn(keys: tuple[str, ...]) -> _Shape:
    if len(_shapes) >= _SHAPES:
        _shapes.clear()
    shape = _shapes[keys] = _Shape(keys)
    return shape


def _fixed(message: Message, shape: _Shape, is_agent: bool) -> tuple[tuple[Any, ...], bool, str]:
    """Return what `_Shape.known` says; raise `Unusual` where that is not said at all."""
    model = ""
    if shape.has_call and not is_agent:
        raise Unusual
    for key, value in message.items():
        if key in MESSAGE_HEADER:
            if value != _ROLES[is_agent] and (key != "type" or value != _MESSAGE_WORD):
                raise Unusual
        elif key == "model":
            model = text_of(value) or ""
            if model == _SYNTHETIC:
                raise Unusual
        elif key in MESSAGE_KEPT and value != NULL:
            raise Unusual
    # Copies, because a slice would keep its whole line in memory.
    values = shape.fixed(message)
    copies = tuple(Raw(bytes(value)) if isinstance(value, Raw) else value for value in values)
    return copies, is_agent, model


@lru_cache(_SHAPES)
def _usage_plan(
    keys: tuple[str, ...],
) -> tuple[int, list[tuple[str, str]], list[tuple[str, bytes]]]:
    """Return the size of the names and punctuation, the counts' fields, the others' names."""
    return (
        shape_size(keys),
        [(key, USAGE[key]) for key in keys if key in USAGE],
        [(key, key_of(f"message.usage.{key}")) for key in keys if key not in USAGE],
    )


def _usage(view: bytes) -> tuple[Usage | None, list[bytes]]:
    """Return the counts of the object *view*, and its other members as they are kept (b"": not)."""
    known = _usages.get(view)
    if known is not None:
        # The fragments of one call repeat it, byte for byte.
        return known
    if view == b"null":
        return None, []
    found = _members_of(view)
    size, counted, others = _usage_plan(tuple(found))
    if len(view) != size + sum(map(len, found.values())):
        raise Unusual
    counts: dict[str, int] = {}
    for key, field in counted:
        value = found[key]
        if value != NULL:
            count = _number(value)
            if type(count) is not int or not -_TOO_LARGE <= count < _TOO_LARGE:
                raise Unusual
            counts[field] = count
    kept = [kept_piece(name, found[key]) for key, name in others]
    said = (Usage(**counts) if counts else None), kept
    if len(view) <= _USAGE_BYTES:
        if len(_usages) >= _USAGES:
            _usages.clear()
        _usages[view] = said
    return said


_shapes: dict[tuple[str, ...], _Shape] = {}
_usages: dict[bytes, tuple[Usage | None, list[bytes]]] = {}
