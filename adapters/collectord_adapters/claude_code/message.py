"""
Take a message or an attachment record apart.

One pass over the record's members in their order, each to its place: a role, the header,
a part, the trailing part, the unknown members. What a place does not accept, an id that
is no string, say, is an unknown member like one that no list names.

Source: docs/dialects/claude-code.md, "Members of a message record or attachment record".
"""

from collections.abc import Callable
from typing import Final

from msgspec import Raw

from collectord.adapter import Context, Source
from collectord.sessiondata import Part, Record, State
from collectord.sessiondata.rawjson import NotStrict, array, object_of, string
from collectord.sources import RawRecord
from collectord_adapters.claude_code.beside import is_string, take_attachment, take_tool_use_result
from collectord_adapters.claude_code.blocks import take_block, take_text
from collectord_adapters.claude_code.draft import (
    NULL,
    Draft,
    built_object,
    refused,
    text_of,
    unknown_members,
)
from collectord_adapters.claude_code.members import (
    ENVIRONMENT,
    FLAG_MEMBERS,
    HEADER_SESSION,
    HEADER_STREAM,
    KEPT,
    LABEL_TYPES,
    MESSAGE_HEADER,
    MESSAGE_KEPT,
    NO_ROLE_IN_A_MESSAGE,
    TEXT_ROLES,
    USAGE,
    WHOLE_TYPES,
)
from collectord_adapters.claude_code.roles import ToolUseResult, read_roles, tool_use_result

__all__ = ["is_apart", "take_apart"]

_FALSE: Final = Raw(b"false")
_SAYS_NOTHING: Final = (NULL, Raw(b'""'))
"""Values of a role member that set nothing, because they say nothing."""
_FLAG_VALUES: Final = (_FALSE, Raw(b"true"), NULL)
_EMPTY: Final = (Raw(b"[]"), Raw(b"{}"))

_DONE: Final = ""
"""The place of a container: its members have theirs."""


class _Taking:
    """One record on its way: what every step needs."""

    __slots__ = (
        "attachment",
        "context",
        "draft",
        "is_changed",
        "message",
        "prompt",
        "record",
        "said",
        "source",
        "stated",
        "type",
        "usage",
    )

    def __init__(
        self, raw: RawRecord, source: Source, context: Context, found: dict[str, Raw], draft: Draft
    ) -> None:
        self.source = source
        self.context = context
        self.draft = draft
        self.stated: list[tuple[str, Raw]] = []
        """The environment that this record states."""
        self.is_changed = False
        """Whether that differs from what the file has stated before."""
        self.message = _opened(found.get("message"), draft, "message.")
        self.usage = None
        self.prompt = ""
        """The message's content, when it is a plain string."""
        if self.message is not None:
            self.usage = _opened(self.message.get("usage"), draft, "message.usage.")
            self.prompt = text_of(self.message, "content")
        self.attachment = _opened(found.get("attachment"), None, "")
        self.said: ToolUseResult = tool_use_result(found)
        self.type = text_of(found, "type")
        self.record: Record = read_roles(
            raw,
            source,
            found,
            message=self.message,
            usage=self.usage,
            attachment=self.attachment,
            prompt=self.prompt,
            said=self.said,
        )


def is_apart(found: dict[str, Raw]) -> bool:
    """Whether a record with the members *found* is taken apart; else it is kept whole."""
    return (
        found.get("message", NULL) != NULL or found.get("attachment", NULL) != NULL
    ) and text_of(found, "type") not in WHOLE_TYPES


def take_apart(
    raw: RawRecord,
    source: Source,
    context: Context,
    whole: Raw,
    found: dict[str, Raw],
    draft: Draft,
) -> tuple[Record, Context]:
    """
    Return *raw* as a record, and what the file has stated of its environment by now.

    *whole* is its compact form and *found* its members; what *draft* holds already
    (members that others hide) is part of the record.
    """
    taking = _Taking(raw, source, context, found, draft)
    record = taking.record
    _place_each(taking, whole, found, _RECORD, "", _leave)
    result = found.get("toolUseResult")
    if result is not None:
        place = take_tool_use_result(result, taking.said, draft)
        draft.add(place, len(result))
    record.parts = draft.parts
    record.dropped = draft.dropped
    trailing = [*taking.stated, *draft.kept] if taking.is_changed else draft.kept
    if not trailing and not draft.parts and not draft.unknown:
        trailing = [("message", found["message"])]
    if trailing:
        data = built_object(trailing)
        draft.parts.append(Part(k="data", data=data, state=State.AVAILABLE, bytes=len(data)))
    if draft.unknown:
        draft.parts.append(unknown_members(draft.unknown))
    if not taking.is_changed:
        return record, context
    # Copies, because a slice would keep its whole line in memory.
    return record, {**context, **{key: Raw(bytes(value)) for key, value in taking.stated}}


_Step = Callable[[_Taking, str, Raw], str]
"""Take one member, by its dotted path; return its place."""


def _place_each(
    taking: _Taking,
    raw: Raw,
    found: dict[str, Raw],
    steps: dict[str, _Step],
    path: str,
    otherwise: _Step,
) -> None:
    """Send each member of the object *raw* to its place."""
    ledger = taking.draft.ledger
    keys = ledger.keys_of(raw) if ledger is not None else None
    for key, value in found.items():
        place = steps.get(key, otherwise)(taking, path + key, value)
        if keys is None:
            continue
        if place:
            taking.draft.add(place, keys[key] + len(value))
        else:
            taking.draft.add("part", keys[key])


def _text_role(taking: _Taking, path: str, value: Raw) -> str:
    if getattr(taking.record, TEXT_ROLES[path]) or value in _SAYS_NOTHING:
        return "role"
    return taking.draft.leave(path, value)


def _type(taking: _Taking, path: str, value: Raw) -> str:
    if taking.type or value in _SAYS_NOTHING:
        return "role"
    return taking.draft.leave(path, value)


def _flag(taking: _Taking, path: str, value: Raw) -> str:
    return "role" if value in _FLAG_VALUES else taking.draft.leave(path, value)


def _label(taking: _Taking, path: str, value: Raw) -> str:
    """A label on the record type that it names something on; elsewhere a fact of its own."""
    if value in _SAYS_NOTHING or _is(value, taking.record.label):
        return "role"
    if LABEL_TYPES[path] in ("", taking.type) and not is_string(value):
        return taking.draft.leave(path, value)
    return taking.draft.keep(path, value)


def _session(taking: _Taking, path: str, value: Raw) -> str:
    if _is(value, taking.source.session):
        return "header"
    return taking.draft.keep(path, value)


def _stream(taking: _Taking, path: str, value: Raw) -> str:
    if _is(value, taking.source.stream):
        return "header"
    return taking.draft.keep(path, value)


def _sidechain(taking: _Taking, path: str, value: Raw) -> str:
    return "header" if value == _FALSE else taking.draft.keep(path, value)


def _environment(taking: _Taking, path: str, value: Raw) -> str:
    if taking.context.get(path) == value:
        taking.stated.append((path, value))
    elif value != NULL:
        if refused(value):
            return taking.draft.leave(path, value)
        taking.stated.append((path, value))
        taking.is_changed = True
    return "trailing"


def _leave(taking: _Taking, path: str, value: Raw) -> str:
    return taking.draft.leave(path, value)


def _keep(taking: _Taking, path: str, value: Raw) -> str:
    return taking.draft.keep(path, value)


def _message(taking: _Taking, path: str, value: Raw) -> str:
    if taking.message is None:
        return "role" if value == NULL else taking.draft.leave(path, value)
    if value in _EMPTY:
        return taking.draft.keep(path, value)
    _place_each(taking, value, taking.message, _MESSAGE, "message.", _leave)
    return _DONE


def _call_id(taking: _Taking, path: str, value: Raw) -> str:
    """Only an assistant's message is a fragment of a call; another's id is a fact of its own."""
    if taking.type != "assistant":
        return taking.draft.keep(path, value)
    if taking.record.call or value in _SAYS_NOTHING:
        return "role"
    return taking.draft.leave(path, value)


def _model(taking: _Taking, path: str, value: Raw) -> str:
    if taking.record.model or value in _SAYS_NOTHING:
        return "role"
    return taking.draft.leave(path, value)


def _stop_reason(taking: _Taking, path: str, value: Raw) -> str:
    if taking.type != "assistant":
        return taking.draft.keep(path, value)
    if "finished" in taking.record.flags or value in _SAYS_NOTHING:
        return "role"
    return taking.draft.leave(path, value)


def _repeats_type(taking: _Taking, path: str, value: Raw) -> str:
    """A message that says it is one, and of its record's type, says nothing new."""
    if _is(value, taking.type) or (path == "message.type" and _is(value, "message")):
        return "header"
    return taking.draft.keep(path, value)


def _content(taking: _Taking, path: str, value: Raw) -> str:
    draft = taking.draft
    if taking.prompt or value == _SAYS_NOTHING[1]:
        take_text(taking.prompt, draft)
        return "part"
    if value == NULL:
        return "role"
    if value in _EMPTY:
        return draft.keep(path, value) if value == _EMPTY[0] else draft.leave(path, value)
    try:
        blocks = array(value)
    except NotStrict:
        return draft.leave(path, value)
    for index, block in enumerate(blocks):
        take_block(block, index, draft)
    return _DONE


def _usage(taking: _Taking, path: str, value: Raw) -> str:
    if taking.usage is None:
        return "role" if value == NULL else taking.draft.leave(path, value)
    _place_each(taking, value, taking.usage, _USAGE, "message.usage.", _keep)
    return _DONE


def _count(taking: _Taking, path: str, value: Raw) -> str:
    usage = taking.record.usage
    field = USAGE[path.removeprefix("message.usage.")]
    if value == NULL or (usage is not None and getattr(usage, field) is not None):
        return "role"
    return taking.draft.leave(path, value)


def _attachment(taking: _Taking, path: str, value: Raw) -> str:
    if taking.attachment is None:
        return "role" if value == NULL else taking.draft.leave(path, value)
    return take_attachment(value, taking.attachment, taking.draft)


def _result(taking: _Taking, path: str, value: Raw) -> str:
    """Nothing yet: it goes to the record's results, wherever it stands in the record."""
    return _DONE


def _opened(value: Raw | None, draft: Draft | None, path: str) -> dict[str, Raw] | None:
    """Return the members of *value*, when it is an object."""
    if value is None:
        return None
    try:
        return object_of(value)[0] if draft is None else draft.open(value, path)
    except NotStrict:
        return None


def _is(value: Raw, text: str) -> bool:
    """Whether *value* is the string *text*."""
    try:
        return string(value) == text
    except NotStrict:
        return False


_RECORD: Final[dict[str, _Step]] = {
    **dict.fromkeys(TEXT_ROLES, _text_role),
    **dict.fromkeys(FLAG_MEMBERS, _flag),
    **dict.fromkeys(LABEL_TYPES, _label),
    **dict.fromkeys(HEADER_SESSION, _session),
    **dict.fromkeys(HEADER_STREAM, _stream),
    **dict.fromkeys(ENVIRONMENT, _environment),
    **dict.fromkeys(KEPT, _keep),
    **dict.fromkeys(NO_ROLE_IN_A_MESSAGE, _keep),
    "type": _type,
    "isSidechain": _sidechain,
    "message": _message,
    "attachment": _attachment,
    "toolUseResult": _result,
}
_MESSAGE: Final[dict[str, _Step]] = {
    **dict.fromkeys(MESSAGE_HEADER, _repeats_type),
    **dict.fromkeys(MESSAGE_KEPT, _keep),
    "id": _call_id,
    "model": _model,
    "stop_reason": _stop_reason,
    "content": _content,
    "usage": _usage,
}
_USAGE: Final[dict[str, _Step]] = dict.fromkeys(USAGE, _count)
