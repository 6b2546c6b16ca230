"""
Take a message or an attachment record apart.

One pass over the record's members in their order, each to its place: a role, the header,
a part, the trailing part, the unknown members. What a place does not accept, an id that
is no string, say, is an unknown member like one that no list names.

Source: docs/dialects/claude-code.md, "Members of a message record or attachment record".
"""

from functools import lru_cache
from typing import Final

from msgspec import Raw

from collectord.adapter import Context
from collectord.sessiondata import Part, State, Usage
from collectord.sessiondata.rawjson import NotStrict, quote, string
from collectord_adapters.claude_code.beside import (
    mark_spilled,
    take_attachment,
    take_tool_use_result,
)
from collectord_adapters.claude_code.blocks import take_blocks, take_text
from collectord_adapters.claude_code.draft import Draft, unknown_members
from collectord_adapters.claude_code.members import (
    ENVIRONMENT,
    HEADER_SESSION,
    HEADER_STREAM,
    KEPT,
    MESSAGE_HEADER,
    MESSAGE_KEPT,
    NO_ROLE_IN_A_MESSAGE,
    USAGE,
    WHOLE_TYPES,
)
from collectord_adapters.claude_code.roles import (
    NO_RESULT,
    ROLE_STEPS,
    SAYS_NOTHING,
    finish_roles,
)
from collectord_adapters.claude_code.steps import DONE, Shape, Table, take_each
from collectord_adapters.claude_code.values import (
    NULL,
    built_object,
    is_text,
    number,
    opened,
    refused,
)

__all__ = ["RECORD", "is_apart", "take_apart"]

_FALSE: Final = Raw(b"false")
_MESSAGE_WORD: Final = Raw(b'"message"')
_EMPTY_LIST: Final = Raw(b"[]")
_EMPTY_OBJECT: Final = Raw(b"{}")
_COUNTS: Final = {f"message.usage.{key}": field for key, field in USAGE.items()}
_leave: Final = Draft.leave
_keep: Final = Draft.keep
_REPEATED: Final = ENVIRONMENT | HEADER_SESSION | HEADER_STREAM | {"isSidechain"}
_SYNTHETIC: Final = "<synthetic>"
_USAGES: Final = 64
"""How many ``usage`` objects are remembered, none larger than `_USAGE_BYTES`."""
_USAGE_BYTES: Final = 4096


def is_apart(draft: Draft, found: dict[str, Raw]) -> bool:
    """Whether a record with the members *found* is taken apart; else it is kept whole."""
    value = found.get("message")
    if value is None or value == NULL:
        value = found.get("attachment")
    return value is not None and value != NULL and draft.type not in WHOLE_TYPES


def take_apart(draft: Draft, whole: Raw, found: dict[str, Raw], shape: Shape) -> Context:
    """
    Fill the draft's record from *whole*, its compact form.

    Returns what the file has stated of its environment by now.
    """
    if _says_the_same(draft, found, shape):
        take_each(whole, found, shape.others, draft)
        return _finish(draft, found)
    take_each(whole, found, shape.steps, draft)
    context = _finish(draft, found)
    if shape.repeated is not None:
        noted = {path for path, _ in (*draft.kept, *draft.unknown)}
        if noted.isdisjoint(_REPEATED):
            values = tuple(Raw(bytes(value)) for value in shape.repeated(found))
            shape.before = context, draft.source.session, draft.source.stream, values
    return context


def _says_the_same(draft: Draft, found: dict[str, Raw], shape: Shape) -> bool:
    """
    Whether the members that records repeat are those of a record which needed nothing.

    Then they are the header's or the environment's, and need nothing again.
    """
    before = shape.before
    return (
        before is not None
        and draft.ledger is None
        and before[0] is draft.context
        and before[1] == draft.source.session
        and before[2] == draft.source.stream
        and shape.repeated is not None
        and before[3] == shape.repeated(found)
    )


def _finish(draft: Draft, found: dict[str, Raw]) -> Context:
    """Put what every member of the record has become together."""
    said = NO_RESULT
    result = found.get("toolUseResult")
    if draft.results:
        mark_spilled(draft)
    if result is not None:
        place, said = take_tool_use_result(result, draft)
        draft.add(place, len(result))
    finish_roles(draft, found, said)
    trailing = [*draft.stated, *draft.kept] if draft.is_changed else draft.kept
    if not trailing and not draft.parts and not draft.unknown:
        trailing = [("message", found["message"])]
    if trailing:
        data = built_object(trailing)
        draft.parts.append(Part(k="data", data=data, state=State.AVAILABLE, bytes=len(data)))
    if draft.unknown:
        draft.parts.append(unknown_members(draft.unknown))
    if not draft.is_changed:
        return draft.context
    # Copies, because a slice would keep its whole line in memory.
    return {**draft.context, **{key: Raw(bytes(value)) for key, value in draft.stated}}


def _session(draft: Draft, path: str, value: Raw) -> str:
    if value == _quoted(draft.source.session) or is_text(value, draft.source.session):
        return "header"
    return draft.keep(path, value)


def _stream(draft: Draft, path: str, value: Raw) -> str:
    if value == _quoted(draft.source.stream) or is_text(value, draft.source.stream):
        return "header"
    return draft.keep(path, value)


def _sidechain(draft: Draft, path: str, value: Raw) -> str:
    return "header" if value == _FALSE else draft.keep(path, value)


def _environment(draft: Draft, path: str, value: Raw) -> str:
    if draft.context.get(path) == value:
        draft.stated.append((path, value))
    elif value != NULL:
        if refused(value):
            return draft.leave(path, value)
        draft.stated.append((path, value))
        draft.is_changed = True
    return "trailing"


def _message(draft: Draft, path: str, value: Raw) -> str:
    if value == NULL:
        return "role"
    if value == _EMPTY_OBJECT:
        return draft.keep(path, value)
    try:
        found, shape = _MESSAGE.open(value, draft)
    except NotStrict:
        return draft.leave(path, value)
    take_each(value, found, shape.steps, draft)
    return DONE


def _call(draft: Draft, path: str, value: Raw) -> str:
    """Only an assistant's message is a fragment of a call; another's id is a fact of its own."""
    if draft.type != "assistant":
        return draft.keep(path, value)
    try:
        draft.record.call = string(value)
    except NotStrict:
        return "role" if value == NULL else draft.leave(path, value)
    return "role"


def _model(draft: Draft, path: str, value: Raw) -> str:
    try:
        draft.record.model = string(value)
    except NotStrict:
        return "role" if value == NULL else draft.leave(path, value)
    if draft.type == "assistant" and draft.record.model == _SYNTHETIC:
        draft.record.flags.append("synthetic")
    return "role"


def _stop_reason(draft: Draft, path: str, value: Raw) -> str:
    if draft.type != "assistant":
        return draft.keep(path, value)
    if value in SAYS_NOTHING:
        return "role"
    if not is_text(value):
        return draft.leave(path, value)
    draft.record.flags.append("finished")
    return "role"


def _repeats_type(draft: Draft, path: str, value: Raw) -> str:
    """A message that says it is one, and of its record's type, says nothing new."""
    if value == _MESSAGE_WORD and path == "message.type":
        return "header"
    return "header" if draft.type and is_text(value, draft.type) else draft.keep(path, value)


def _content(draft: Draft, path: str, value: Raw) -> str:
    if value == _EMPTY_LIST:
        return draft.keep(path, value)
    try:
        take_blocks(value, draft)
    except NotStrict:
        return _plain_content(draft, path, value)
    return DONE


def _plain_content(draft: Draft, path: str, value: Raw) -> str:
    if value == NULL:
        return "role"
    if not is_text(value):
        return draft.leave(path, value)
    draft.prompt = string(value)
    take_text(draft.prompt, draft)
    return "part"


def _usage(draft: Draft, path: str, value: Raw) -> str:
    if value == NULL:
        return "role"
    view = bytes(value)
    known = _usages.get(view)
    if known is not None and draft.ledger is None:
        # The fragments of one call repeat it, byte for byte.
        draft.record.usage, kept = known
        draft.kept += kept
        return DONE
    before = len(draft.kept), len(draft.unknown)
    try:
        found, shape = _USAGE.open(value, draft)
    except NotStrict:
        return draft.leave(path, value)
    take_each(value, found, shape.steps, draft)
    if draft.counts:
        draft.record.usage = Usage(**draft.counts)
    if len(draft.unknown) == before[1] and len(view) <= _USAGE_BYTES:
        if len(_usages) >= _USAGES:
            _usages.clear()
        kept = [(key, Raw(bytes(value))) for key, value in draft.kept[before[0] :]]
        _usages[view] = draft.record.usage, kept
    return DONE


def _count(draft: Draft, path: str, value: Raw) -> str:
    if value == NULL:
        return "role"
    count = number(value)
    if count is None:
        return draft.leave(path, value)
    draft.counts[_COUNTS[path]] = count
    return "role"


def _attachment(draft: Draft, path: str, value: Raw) -> str:
    if value == NULL:
        return "role"
    try:
        draft.attachment, _ = opened(value)
    except NotStrict:
        return draft.leave(path, value)
    return take_attachment(value, draft.attachment, draft)


def _result(draft: Draft, path: str, value: Raw) -> str:
    """Nothing yet: it goes to the record's results, wherever it stands in the record."""
    return DONE


_usages: dict[bytes, tuple[Usage | None, list[tuple[str, Raw]]]] = {}


@lru_cache(64)
def _quoted(name: str) -> Raw:
    return quote(name)


RECORD: Final = Table(
    "",
    {
        **ROLE_STEPS,
        **dict.fromkeys(HEADER_SESSION, _session),
        **dict.fromkeys(HEADER_STREAM, _stream),
        **dict.fromkeys(ENVIRONMENT, _environment),
        **dict.fromkeys(KEPT, _keep),
        **dict.fromkeys(NO_ROLE_IN_A_MESSAGE, _keep),
        "isSidechain": _sidechain,
        "message": _message,
        "attachment": _attachment,
        "toolUseResult": _result,
    },
    _leave,
    _REPEATED,
)
_MESSAGE: Final = Table(
    "message.",
    {
        **dict.fromkeys(MESSAGE_HEADER, _repeats_type),
        **dict.fromkeys(MESSAGE_KEPT, _keep),
        "id": _call,
        "model": _model,
        "stop_reason": _stop_reason,
        "content": _content,
        "usage": _usage,
    },
    _leave,
)
_USAGE: Final = Table("message.usage.", dict.fromkeys(USAGE, _count), _keep)
