"""
A usual line as a record.

Source: docs/dialects/claude-code.md, "Record to role fields" and "Content to parts".
"""

from operator import itemgetter
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET, Raw

from collectord.adapter import Context, Converted, Source
from collectord.sessiondata import Dropped, From, Part, Record, State
from collectord.sources import RawRecord
from collectord_adapters.claude_code.members import (
    ENVIRONMENT,
    FLAG_MEMBERS,
    HEADER_SESSION,
    HEADER_STREAM,
    KEPT,
    NO_ROLE_IN_A_MESSAGE,
)
from collectord_adapters.claude_code.roles import RESULT_MEMBERS, is_time
from collectord_adapters.claude_code.usual.message import take_message
from collectord_adapters.claude_code.usual.scan import Line, scan
from collectord_adapters.claude_code.usual.values import (
    Unusual,
    end_of_object,
    kept_piece,
    text_of,
)
from collectord_adapters.claude_code.values import NULL, NotCompact, is_text, key_of

__all__ = ["usual_line"]

_AVAILABLE: Final = State.AVAILABLE.value
_AGENT: Final = From.AGENT.value
_EXTERNAL: Final = From.EXTERNAL.value
_FALSE: Final = Raw(b"false")
_SHAPES: Final = 256
_REPEATED: Final = (
    ENVIRONMENT | HEADER_SESSION | HEADER_STREAM | FLAG_MEMBERS | {"isSidechain", "type"}
)
_SOMETIMES_KEPT: Final = KEPT | NO_ROLE_IN_A_MESSAGE | {"isSidechain"}


class _Same(NamedTuple):
    """The members that lines repeat, when they last needed nothing."""

    context: Context
    session: str
    stream: str
    values: tuple[Raw, ...]
    is_agent: bool
    """Whether the model speaks."""
    ahead: tuple[tuple[str, bytes], ...]
    """Members before the message that go to the trailing part."""
    behind: tuple[tuple[str, bytes], ...]
    """And those behind it."""


class _Shape:
    """The names of a line's members, in order, and what follows from them."""

    __slots__ = (
        "ahead", "behind", "between", "keys", "message", "repeated", "result", "same",
    )  # fmt: skip

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.keys = keys
        again = [key for key in keys if key in _REPEATED]
        if len(again) < 2 or "message" not in keys:
            raise Unusual
        self.repeated = itemgetter(*again)
        """Takes out the members that most lines of a file repeat."""
        self.same: _Same | None = None
        place = self.message = keys.index("message")
        self.ahead = sum(len(key) + 4 for key in keys[: place + 1])
        """Bytes of the names and the punctuation before the message."""
        result = self.result = keys.index("toolUseResult") if "toolUseResult" in keys else place
        if result < place:
            raise Unusual
        self.between = sum(len(key) + 4 for key in keys[place + 1 : result + 1])
        """Then before the tool's result."""
        self.behind = sum(len(key) + 4 for key in keys[result + 1 :]) + 1


def usual_line(view: bytes, raw: RawRecord, source: Source, context: Context) -> Converted | None:
    """
    Return the record that *view*, UTF-8, is, where it is a usual line; else None.

    What it returns is what the careful way returns.
    """
    try:
        return _read(view, raw, source, context)
    except (Unusual, NotCompact, msgspec.DecodeError, LookupError, ValueError, RecursionError):
        return None


def _read(view: bytes, raw: RawRecord, source: Source, context: Context) -> Converted | None:
    found = scan(view)
    keys = tuple(found)
    shape = _shapes.get(keys)
    if shape is None:
        shape = _learn(keys)
    same = shape.same
    if (
        same is None
        or same.context is not context
        or same.values != shape.repeated(found)
        or same.session != source.session
        or same.stream != source.stream
    ):
        same = shape.same = _same(found, shape, source, context)
    parts: list[Part] = []
    dropped: list[Dropped] = []
    pieces: list[bytes] = []
    for key, name in same.ahead:
        pieces.append(kept_piece(name, found[key]))
    values = list(found.values())
    place = shape.message
    at = shape.ahead + sum(map(len, values[:place]))
    said = take_message(values[place], same.is_agent, view, at, parts, dropped, pieces)
    at = said.end
    last = shape.result
    if last != place:
        at += shape.between + sum(map(len, values[place + 1 : last]))
        at = _take_tool_use_result(values[last], view, at, parts)
    if at + shape.behind + sum(map(len, values[last + 1 :])) != len(view):
        return None
    for key, name in same.behind:
        pieces.append(kept_piece(name, found[key]))
    if pieces:
        data = b"{%b}" % b",".join(filter(None, pieces))
        if len(data) > 2:
            parts.append(Part(k="data", data=Raw(data), state=_AVAILABLE, bytes=len(data)))
    get = found.get
    # null says nothing, like a member that is not there.
    time = text_of(get("timestamp", NULL))
    if time and not is_time(time):
        raise Unusual
    record = Record(
        ord=raw.ord,
        off=raw.off,
        sha=raw.sha,
        bytes=raw.size,
        id=text_of(get("uuid", NULL)) or "",
        parent=text_of(get("parentUuid", NULL)) or "",
        call=said.call,
        run=text_of(get("promptId", NULL)) or "",
        batch=source.batch,
        from_=_AGENT if same.is_agent else _EXTERNAL,
        time=time or "",
        flags=["finished"] if said.is_finished else [],
        usage=said.usage,
        model=said.model,
        parts=parts,
        dropped=dropped,
    )
    return Converted(record, context)


def _learn(keys: tuple[str, ...]) -> _Shape:
    if len(_shapes) >= _SHAPES:
        _shapes.clear()
    shape = _shapes[keys] = _Shape(keys)
    return shape


def _same(found: Line, shape: _Shape, source: Source, context: Context) -> _Same:
    """Return what `_Same` says of the line; raise `Unusual` where a member needs something."""
    is_agent = is_text(found["type"], "assistant")
    if not is_agent and not is_text(found["type"], "user"):
        raise Unusual
    kept: list[tuple[str, bytes]] = []
    ahead: tuple[tuple[str, bytes], ...] = ()
    for key in shape.keys:
        value = found[key]
        if key == "message":
            ahead, kept = tuple(kept), []
        elif key in _SOMETIMES_KEPT:
            if key != "isSidechain" or value != _FALSE:
                kept.append((key, key_of(key)))
        elif key in ENVIRONMENT:
            if value != NULL and context.get(key) != value:
                raise Unusual
        elif key in HEADER_SESSION:
            if not is_text(value, source.session):
                raise Unusual
        elif key in HEADER_STREAM:
            if not is_text(value, source.stream):
                raise Unusual
        elif key in FLAG_MEMBERS and value not in (_FALSE, NULL):
            raise Unusual
    # Copies, because a slice would keep its whole line in memory.
    values = tuple(Raw(bytes(value)) for value in shape.repeated(found))
    return _Same(context, source.session, source.stream, values, is_agent, ahead, tuple(kept))


def _take_tool_use_result(found: dict[str, Raw], view: bytes, at: int, parts: list[Part]) -> int:
    """Put a tool's structured result, which starts at *at*, on the one result; return its end."""
    results = [part for part in parts if part.k == "result"]
    if len(results) != 1 or not found or not RESULT_MEMBERS.isdisjoint(found):
        raise Unusual
    only = results[0]
    if only.data is not UNSET:
        raise Unusual
    end = end_of_object(view, at, found)
    only.data = Raw(view[at:end])
    only.bytes = only.bytes or end - at
    return end


_shapes: dict[tuple[str, ...], _Shape] = {}
