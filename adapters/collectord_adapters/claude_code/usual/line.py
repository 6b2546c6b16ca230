"""
A usual line as a record.

Source: docs/dialects/claude-code.md, "Record to role fields" and "Content to parts".
"""

from operator import itemgetter
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

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
from collectord_adapters.claude_code.roles import RESULT_MEMBERS, STATUS_FLAGS, is_time
from collectord_adapters.claude_code.usual.attachment import take_attachment
from collectord_adapters.claude_code.usual.message import take_message
from collectord_adapters.claude_code.usual.scan import LINE_TEXTS, Line, scan
from collectord_adapters.claude_code.usual.values import (
    Unusual,
    end_of_object,
    kept_piece,
    least_bytes,
    text_of,
)
from collectord_adapters.claude_code.values import NULL, NotCompact, is_text, key_of

__all__ = ["usual_line"]

_AVAILABLE: Final = State.AVAILABLE.value
_AGENT: Final = From.AGENT.value
_SPEAKERS: Final = {
    "message": {b'"assistant"': _AGENT, b'"user"': From.EXTERNAL.value},
    "attachment": {b'"attachment"': From.RUNTIME.value},
}
"""Who speaks in a line that has the one or the other, by its type."""
_SPILLED: Final = frozenset({"persistedOutputPath", "persistedOutputSize"})
_Result = tuple[str, str, str, str]
"""The call, the child, the batch and the flag that a ``toolUseResult`` names."""
_NO_RESULT: Final[_Result] = ("", "", "", "")
_FALSE: Final = Raw(b"false")
_AS_ZERO: Final = bytes.maketrans(b"123456789", b"0" * 9)
_TIME: Final = b"0000-00-00T00:00:00.000Z"
"""A time as the runtime writes it, each digit as 0: seen sooner than a pattern is matched."""
_SHAPES: Final = 256
_REPEATED: Final = (
    ENVIRONMENT | HEADER_SESSION | HEADER_STREAM | FLAG_MEMBERS | {"isSidechain", "type"}
)
_SOMETIMES_KEPT: Final = KEPT | NO_ROLE_IN_A_MESSAGE | {"isSidechain"}


class _Same(NamedTuple):
    """The members that lines repeat, when they last needed nothing."""

    context: Context
    source: Source
    values: tuple[Raw, ...]
    speaker: str
    """Who speaks."""
    start: int
    """Bytes that stand before the message, all but the members that change."""
    between: int
    """Then those before the tool's result."""
    behind: int
    ahead: tuple[tuple[str, bytes], ...]
    """Members before the message for the trailing part: a name and its bytes, or "" and all."""
    after: tuple[tuple[str, bytes], ...]
    """And those behind it."""


class _Shape:
    """The names of a line's members, in order, and what follows from them."""

    __slots__ = (
        "ahead", "behind", "between", "content", "has_result", "keys", "repeated", "same",
    )  # fmt: skip

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.keys = keys
        again = [key for key in keys if key in _REPEATED]
        if len(again) < 2 or ("message" in keys) is ("attachment" in keys):
            raise Unusual
        self.content = "message" if "message" in keys else "attachment"
        self.repeated = itemgetter(*again)
        """Takes out the members that most lines of a file repeat."""
        self.same: _Same | None = None
        ahead, behind = _split(keys, self.content)
        self.has_result = "toolUseResult" in behind
        between, behind = _split(behind, "toolUseResult") if self.has_result else ((), behind)
        if "toolUseResult" in ahead:
            raise Unusual
        self.ahead = _changing(ahead)
        """Take out the members that change: before the message or attachment,"""
        self.between = _changing(between)
        """between it and the tool's result,"""
        self.behind = _changing(behind)
        """and behind both."""


def _split(keys: tuple[str, ...], key: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    place = keys.index(key)
    return keys[:place], keys[place + 1 :]


def _changing(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(key for key in keys if key not in _REPEATED)


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
        or same.source is not source
        or same.values != shape.repeated(found)
    ):
        same = shape.same = _same(found, shape, source, context)
    parts: list[Part] = []
    dropped: list[Dropped] = []
    pieces: list[bytes] = []
    for key, piece in same.ahead:
        if key:
            piece = kept_piece(piece, found[key])  # noqa: PLW2901
        if piece:
            pieces.append(piece)
    at = same.start
    for key in shape.ahead:
        at += len(found[key])
    if shape.content == "message":
        is_agent = same.speaker is _AGENT
        said = take_message(found["message"], is_agent, view, at, parts, dropped, pieces)
        at, call, model, is_finished, usage = said
        flags = ["finished"] if is_finished else []
    else:
        at = take_attachment(found["attachment"], view, at, parts, pieces)
        call = model = ""
        usage = None
        flags = ["injected"]
    at += same.between
    for key in shape.between:
        at += len(found[key])
    result = _NO_RESULT
    if shape.has_result:
        at, result = _take_tool_use_result(found["toolUseResult"], view, at, parts)
    for key in shape.behind:
        at += len(found[key])
    if at + same.behind != len(view):
        return None
    for key, piece in same.after:
        if key:
            piece = kept_piece(piece, found[key])  # noqa: PLW2901
        if piece:
            pieces.append(piece)
    if pieces:
        data = b"{" + b",".join(pieces) + b"}"
        parts.append(Part(k="data", data=Raw(data), state=_AVAILABLE, bytes=len(data)))
    get = found.get
    time = get("timestamp", "")
    if time and time.encode().translate(_AS_ZERO) != _TIME and not is_time(time):
        raise Unusual
    tool, child, batch, flag = result
    if flag:
        flags.append(flag)
    # By position, in the order of the fields: names cost more than all that they name.
    record = Record(
        raw.ord,
        raw.off,
        raw.sha,
        raw.size,
        get("uuid", ""),
        get("parentUuid", ""),
        call,
        get("promptId", ""),
        "",
        tool,
        child,
        batch or source.batch,
        "",
        "",
        same.speaker,
        time,
        "",
        flags,
        usage,
        model,
        parts,
        dropped,
    )
    return Converted(record, context)


def _learn(keys: tuple[str, ...]) -> _Shape:
    if len(_shapes) >= _SHAPES:
        _shapes.clear()
    shape = _shapes[keys] = _Shape(keys)
    return shape


def _same(found: Line, shape: _Shape, source: Source, context: Context) -> _Same:
    """Return what `_Same` says of the line; raise `Unusual` where a member needs something."""
    speaker = _SPEAKERS[shape.content].get(bytes(found["type"]))
    if speaker is None:
        raise Unusual
    kept: list[tuple[str, bytes]] = []
    ahead: tuple[tuple[str, bytes], ...] = ()
    sizes = [0]
    for key in shape.keys:
        value = found[key]
        sizes[-1] += len(key) + 4
        if key in _REPEATED:
            sizes[-1] += len(value)
        elif key in LINE_TEXTS:
            sizes[-1] += 2
        if key == shape.content:
            ahead, kept = tuple(kept), []
            sizes.append(0)
        elif key == "toolUseResult":
            sizes.append(0)
        elif key in _SOMETIMES_KEPT:
            if key != "isSidechain":
                kept.append((key, key_of(key)))
            elif value != _FALSE:
                kept.append(("", kept_piece(key_of(key), value)))
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
    start, between, *behind = sizes
    return _Same(
        context,
        source,
        values,
        speaker,
        start,
        between if behind else 0,
        (behind[0] if behind else between) + 1,
        ahead,
        tuple(kept),
    )


def _take_tool_use_result(
    found: dict[str, Raw] | str, view: bytes, at: int, parts: list[Part]
) -> tuple[int, _Result]:
    """Put what a tool gave beside its text, at *at*, on the one result; return its end."""
    results = [part for part in parts if part.k == "result"]
    if len(results) != 1:
        raise Unusual
    only = results[0]
    if isinstance(found, str):
        end = at + least_bytes(found)
        if found not in (only.text, f"Error: {only.text}"):
            data = Raw(view[at:end])
            parts.append(Part(k="data", data=data, state=_AVAILABLE, bytes=end - at))
        return end, _NO_RESULT
    if not found:
        raise Unusual
    said = _NO_RESULT if RESULT_MEMBERS.isdisjoint(found) else _said(found)
    end = end_of_object(view, at, found)
    only.data = Raw(view[at:end])
    only.bytes = only.bytes or end - at
    return end, said


def _said(found: dict[str, Raw]) -> _Result:
    """Return what the members of a ``toolUseResult`` say more than that they are there."""
    if not _SPILLED.isdisjoint(found):
        raise Unusual
    tool, child, batch, status = (
        text_of(found.get(key, NULL)) or "" for key in ("toolUseId", "agentId", "runId", "status")
    )
    return tool, child, batch, STATUS_FLAGS.get(status, "")


_shapes: dict[tuple[str, ...], _Shape] = {}
