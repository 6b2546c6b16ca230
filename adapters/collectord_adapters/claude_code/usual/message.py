"""
The ``message`` of a usual line: who speaks, in which call, with what usage.

Source: docs/dialects/claude-code.md, "Members of a message record or attachment record".
"""

from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, NamedTuple

import orjson
from msgspec import Raw

from collectord.sessiondata import Dropped, Part, State, Usage
from collectord_adapters.claude_code.members import MESSAGE_HEADER, MESSAGE_KEPT, USAGE
from collectord_adapters.claude_code.roles import NOTIFICATION
from collectord_adapters.claude_code.usual.blocks import take_blocks
from collectord_adapters.claude_code.usual.scan import Message
from collectord_adapters.claude_code.usual.values import (
    Unusual,
    is_plain,
    least_bytes,
    text_of,
    utf8_bytes,
)
from collectord_adapters.claude_code.values import NULL, key_of

__all__ = ["Said", "take_message"]

_SHAPES: Final = 256
_USAGES: Final = 64
"""How many ``usage`` objects are remembered, none larger than `_USAGE_BYTES`."""
_USAGE_BYTES: Final = 4096
_TOO_LARGE: Final = 1 << 63
_SYNTHETIC: Final = "<synthetic>"
_MESSAGE_WORD: Final = Raw(b'"message"')
_AVAILABLE: Final = State.AVAILABLE.value
_CALL: Final = frozenset({"id", "model", "stop_reason", "usage"})
"""What only the message of a call has."""
_ROLES: Final = {True: Raw(b'"assistant"'), False: Raw(b'"user"')}


Said = tuple[int, str, str, bool, Usage | None]
"""Where a message ends in the line; its call, its model, whether it is the last, its usage."""


class _Known(NamedTuple):
    """The members of a message that are nearly always the same, when they last were usual."""

    is_agent: bool
    """Whether the model speaks."""
    values: tuple[Any, ...]
    ahead: int
    """Bytes that stand before the content, all but the text of the id."""
    behind: int
    """And those behind it, all but the reason to stop and the usage."""
    model: str


class _Shape:
    """The names of a message's members, in order, and what follows from them."""

    __slots__ = ("content", "fixed", "has_call", "keys", "known")

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.keys = keys
        place = self.content = keys.index("content")
        self.has_call = not _CALL.isdisjoint(keys)
        if self.has_call and not (
            "id" in keys[:place] and {"stop_reason", "usage"} <= set(keys[place:])
        ):
            raise Unusual
        again = [key for key in keys if key not in ("id", "content", "stop_reason", "usage")]
        if not again:
            raise Unusual
        # The first twice, so that it is a tuple in any case.
        self.fixed = itemgetter(again[0], *again)
        """Takes out the members that are nearly always the same."""
        self.known: _Known | None = None


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
    known = shape.known
    if known is None or known[0] is not is_agent or known[1] != shape.fixed(message):
        known = shape.known = _fixed(message, shape, is_agent)
    _, _, ahead, behind, model = known
    at += ahead
    call = ""
    if shape.has_call:
        call = message["id"]
        at += len(call)
    content = message["content"]
    if type(content) is list:
        end = behind + take_blocks(content, view, at, parts, dropped, pieces)
    else:
        end = behind + at + _take_prompt(content, parts)
    if not shape.has_call:
        return end, "", "", False, None
    reason = message["stop_reason"]
    found = bytes(message["usage"])
    end += len(found) + (len(reason) + 2 if reason is not None else 4)
    known_usage = _usages.get(found)
    # The fragments of one call repeat it, byte for byte.
    usage, kept = known_usage if known_usage is not None else _usage(found)
    if kept:
        pieces.append(kept)
    return end, call, model, bool(reason), usage


def _take_prompt(prompt: str, parts: list[Part]) -> int:
    """Append what somebody says in one string; return its size as written."""
    if NOTIFICATION in prompt:
        raise Unusual
    parts.append(Part(k="text", text=prompt, state=_AVAILABLE, bytes=utf8_bytes(prompt)))
    return least_bytes(prompt)


def _learn(keys: tuple[str, ...]) -> _Shape:
    if len(_shapes) >= _SHAPES:
        _shapes.clear()
    shape = _shapes[keys] = _Shape(keys)
    return shape


def _fixed(message: Message, shape: _Shape, is_agent: bool) -> _Known:
    """Return what `_Known` says; raise `Unusual` where that is not said at all."""
    model = ""
    if shape.has_call and not is_agent:
        raise Unusual
    sizes = []
    for key, value in message.items():
        sizes.append(len(key) + 4)
        if key in MESSAGE_HEADER:
            if value != _ROLES[is_agent] and (key != "type" or value != _MESSAGE_WORD):
                raise Unusual
        elif key == "model":
            model = text_of(value) or ""
            if model == _SYNTHETIC:
                raise Unusual
        elif key in MESSAGE_KEPT and value != NULL:
            raise Unusual
        if isinstance(value, Raw) and key != "usage":
            sizes[-1] += len(value)
    ahead = sum(sizes[: shape.content + 1]) + (2 if shape.has_call else 0)
    # Copies, because a slice would keep its whole line in memory.
    values = shape.fixed(message)
    copies = tuple(Raw(bytes(value)) for value in values)
    return _Known(is_agent, copies, ahead, sum(sizes[shape.content + 1 :]) + 1, model)


@lru_cache(_SHAPES)
def _usage_plan(keys: tuple[str, ...]) -> tuple[list[tuple[str, str]], list[tuple[str, bytes]]]:
    """Return the fields of the counts, and the names of the other members."""
    return (
        [(key, USAGE[key]) for key in keys if key in USAGE],
        [(key, key_of(f"message.usage.{key}")) for key in keys if key not in USAGE],
    )


def _usage(view: bytes) -> tuple[Usage | None, bytes]:
    """Return the counts of the object *view*, and its other members as they are kept."""
    if view == b"null":
        return None, b""
    found = orjson.loads(view)
    # What is written out again byte for byte is as it stands, and so is each of its members.
    if type(found) is not dict or not is_plain(view, found):
        raise Unusual
    counted, others = _usage_plan(tuple(found))
    counts: dict[str, int] = {}
    for key, field in counted:
        count = found[key]
        if count is not None:
            if type(count) is not int or not -_TOO_LARGE <= count < _TOO_LARGE:
                raise Unusual
            counts[field] = count
    kept = [name + orjson.dumps(found[key]) for key, name in others if found[key] is not None]
    said = (Usage(**counts) if counts else None), b",".join(kept)
    if len(view) <= _USAGE_BYTES:
        if len(_usages) >= _USAGES:
            _usages.clear()
        _usages[view] = said
    return said


_shapes: dict[tuple[str, ...], _Shape] = {}
_usages: dict[bytes, tuple[Usage | None, bytes]] = {}
