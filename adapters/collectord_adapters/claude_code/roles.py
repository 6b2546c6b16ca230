"""
The role fields, the flags and the trigger of a record.

Roles are read in one way for every record, whether it is taken apart or kept whole: a
step for each member that is one, then what several members say together. A member that
has another type than the runtime gives it sets nothing; its step says so, and where the
record is taken apart its bytes are carried as an unknown member.

Source: docs/dialects/claude-code.md, "Record to role fields" and "Flags".
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from collectord.sessiondata import FLAGS, From, Kind
from collectord.sessiondata.rawjson import NotStrict, string
from collectord_adapters.claude_code.draft import Draft
from collectord_adapters.claude_code.members import (
    AGENT_META_LABEL,
    FLAG_MEMBERS,
    LABEL_TYPES,
    TEXT_ROLES,
)
from collectord_adapters.claude_code.steps import Step
from collectord_adapters.claude_code.values import NULL, TRUE, is_text, number, parsed, text_of

__all__ = [
    "NOTIFICATION",
    "NO_RESULT",
    "RESULT_MEMBERS",
    "ROLE_STEPS",
    "SAYS_NOTHING",
    "STATUS_FLAGS",
    "ToolUseResult",
    "finish_roles",
    "is_time",
    "read_roles",
    "tool_use_result",
]

SAYS_NOTHING: Final = (NULL, Raw(b'""'))
"""Values of a role member that set nothing, because they say nothing."""

_SHAPES: Final = 256
_FLAG_VALUES: Final = (Raw(b"false"), TRUE, NULL)
is_time: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
).fullmatch
"""RFC 3339; what is no time sets none."""

NOTIFICATION: Final = "<task-notification>"
_TASK_ID: Final = re.compile(r"<task-id>(.*?)</task-id>", re.DOTALL)
_TOOL_USE_ID: Final = re.compile(r"<tool-use-id>(.*?)</tool-use-id>", re.DOTALL)
_AGENT_ID: Final = re.compile(r"a[0-9a-f]{16}|[0-9a-f]{8}")
"""An agent's id; a task's is another shape in nine of ten notifications."""

_SYSTEM_FLAGS: Final = {
    "compact_boundary": "context_reset",
    "api_error": "error",
    "turn_duration": "turn_duration",
    "local_command": "command",
}
STATUS_FLAGS: Final = {"completed": "child_result", "async_launched": "launch_ack"}
RESULT_MEMBERS: Final = frozenset(
    {
        "toolUseId",
        "agentId",
        "runId",
        "status",
        "persistedOutputPath",
        "persistedOutputSize",
    }
)
"""Members of a ``toolUseResult`` that say more than the part which holds it."""
_TRIGGERS: Final = {"human": "external", "task-notification": "notification"}
_FROM: Final = {"assistant": From.AGENT, "user": From.EXTERNAL}
_SPEAKING_TYPES: Final = frozenset({"assistant", "user", "attachment"})
"""Record types that a record's other fields say; another type's name is a fact of its own."""
_TIMELESS: Final = frozenset({Kind.AGENT_META, Kind.WORKFLOW_MANIFEST})
"""Kinds whose records carry no time (the format's page): a file of them has no time range."""


class ToolUseResult(NamedTuple):
    """What is read of a ``toolUseResult`` that is an object; the rest of it is only carried."""

    tool: str = ""
    child: str = ""
    batch: str = ""
    status: str = ""
    is_spilled: bool = False
    """Whether its whole output is in a file of its own."""
    spilled_bytes: int = -1
    """How large that is; -1: not said."""


class _Origin(msgspec.Struct):
    kind: Raw = NULL


NO_RESULT: Final = ToolUseResult()
_decode_object: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_origin: Final = msgspec.json.Decoder(_Origin).decode


def tool_use_result(raw: Raw, value: object) -> ToolUseResult:
    """
    Return what the ``toolUseResult`` *raw* says; nothing when it is no object.

    *value* is the parsed form; None where no strict parser reads it, or it is no object.
    """
    if value is None:
        try:
            members = _decode_object(raw)
        except (msgspec.DecodeError, RecursionError):
            return NO_RESULT
        value = {key: _value(members[key]) for key in RESULT_MEMBERS if key in members}
    if not isinstance(value, dict):
        return NO_RESULT
    size = value.get("persistedOutputSize")
    path = value.get("persistedOutputPath")
    return ToolUseResult(
        _string(value.get("toolUseId")),
        _string(value.get("agentId")),
        _string(value.get("runId")),
        _string(value.get("status")),
        size is not None or path is not None,
        size if type(size) is int and 0 <= size < 1 << 63 else -1,
    )


def read_roles(draft: Draft, found: dict[str, Raw]) -> None:
    """Set every role of a record that is kept whole."""
    for key, step in _role_steps(tuple(found)):
        step(draft, key, found[key])
    result = found.get("toolUseResult")
    said = NO_RESULT if result is None else tool_use_result(result, parsed(result)[0])
    finish_roles(draft, found, said)
    if draft.source.kind != Kind.TRANSCRIPT:
        _document_roles(draft, found)


@lru_cache(_SHAPES)
def _role_steps(keys: tuple[str, ...]) -> tuple[tuple[str, Step], ...]:
    return tuple((key, ROLE_STEPS[key]) for key in keys if key in ROLE_STEPS)


def finish_roles(draft: Draft, found: dict[str, Raw], said: ToolUseResult) -> None:
    """Set what several members of a record say together; its steps have been taken."""
    record = draft.record
    record.from_ = _FROM.get(draft.type, From.RUNTIME)
    if said is not NO_RESULT:
        record.tool = said.tool
        record.child = said.child
        record.batch = said.batch or record.batch
        status = STATUS_FLAGS.get(said.status)
        if status:
            record.flags.append(status)
    if draft.type == "system":
        flag = _SYSTEM_FLAGS.get(text_of(found, "subtype"), "notice")
        record.flags.append(flag)
        if flag == "context_reset":
            record.continues = text_of(found, "logicalParentUuid")
    elif draft.type == "api-request-shape":
        record.flags += ("system_prompt", "tool_schemas")
    if draft.attachment is not None or draft.type == "attachment":
        _attachment_flags(draft)
    if draft.type == "user" or "origin" in found or draft.attachment is not None:
        _origin(draft, found)
    if NOTIFICATION in draft.prompt and draft.prompt.lstrip().startswith(NOTIFICATION):
        record.tool = record.tool or _first(_TOOL_USE_ID, draft.prompt)
        task = _first(_TASK_ID, draft.prompt)
        if not record.child and _AGENT_ID.fullmatch(task):
            record.child = task
    if len(record.flags) > 1:
        flags = set(record.flags)
        if found.get("isMeta") == TRUE:
            flags.discard("external_input")
        record.flags = sorted(flags, key=FLAGS.index)


def _attachment_flags(draft: Draft) -> None:
    attachment = draft.attachment or {}
    kind = text_of(attachment, "type")
    queued = kind == "queued_command" and text_of(attachment, "commandMode") == "prompt"
    draft.record.flags.append("external_input" if queued else "injected")
    if kind == "prompt_snapshot":
        draft.record.flags += ("system_prompt", "tool_schemas")


def _origin(draft: Draft, found: dict[str, Raw]) -> None:
    """Set what started the loop, and whether a person's words came in."""
    kind = _origin_kind(found, draft.attachment)
    is_input = draft.type == "user" and found.get("isMeta") != TRUE
    if kind is not None:
        draft.record.trigger = _TRIGGERS.get(kind, "unknown")
        is_input = is_input and kind == "human"
    else:
        is_input = is_input and text_of(found, "promptSource") == "sdk"
        if is_input:
            draft.record.trigger = "external"
    if is_input:
        draft.record.flags.append("external_input")


def _origin_kind(found: dict[str, Raw], attachment: dict[str, Raw] | None) -> str | None:
    """Return the kind that an origin states ("" when it is no string); None without one."""
    for holder in (found, attachment):
        value = holder.get("origin") if holder else None
        if value is None:
            continue
        try:
            kind = _decode_origin(value).kind
        except (msgspec.DecodeError, RecursionError):
            continue
        if kind != NULL:
            return _text(kind)
    return None


def _document_roles(draft: Draft, found: dict[str, Raw]) -> None:
    """Set what a sidecar, a manifest or a journal's line says beyond that."""
    record, source = draft.record, draft.source
    record.from_ = From.RUNTIME
    record.flags = [flag for flag in record.flags if flag != "external_input"]
    if source.kind in _TIMELESS:
        record.time = ""
    if source.kind == Kind.AGENT_META:
        record.child = text_of(found, "agentId") or source.stream
        record.tool = record.tool or text_of(found, "toolUseId")
        record.started_by = text_of(found, "parentAgentId")
        record.label = record.label or text_of(found, AGENT_META_LABEL)
    elif source.kind == Kind.WORKFLOW_MANIFEST:
        record.batch = text_of(found, "runId") or source.batch
        record.label = record.label or text_of(found, "workflowName")
    elif source.kind == Kind.JOURNAL:
        record.child = record.child or text_of(found, "agentId")
        if "result" in found:
            record.flags = sorted({*record.flags, "child_result"}, key=FLAGS.index)


def _text_role(field: str) -> Step:
    def step(draft: Draft, path: str, value: Raw) -> str:
        if value == NULL:
            return "role"
        try:
            setattr(draft.record, field, string(value))
        except NotStrict:
            return draft.leave(path, value)
        return "role"

    return step


def _time(draft: Draft, path: str, value: Raw) -> str:
    text = _text(value)
    if is_time(text):
        draft.record.time = text
        return "role"
    return "role" if value in SAYS_NOTHING else draft.leave(path, value)


def _type(draft: Draft, path: str, value: Raw) -> str:
    if draft.type in _SPEAKING_TYPES or value in SAYS_NOTHING:
        return "role"
    # Of a type that nobody has heard of, `from` says "runtime" and no more.
    return draft.keep(path, value) if draft.type else draft.leave(path, value)


def _flag(draft: Draft, path: str, value: Raw) -> str:
    if value == TRUE:
        draft.record.flags.append("injected" if path == "isMeta" else "reset_summary")
        return "role"
    return "role" if value in _FLAG_VALUES else draft.leave(path, value)


def _label(draft: Draft, path: str, value: Raw) -> str:
    """A label on the record type that it names something on; elsewhere a fact of its own."""
    if value in SAYS_NOTHING:
        return "role"
    if LABEL_TYPES[path] not in ("", draft.type):
        return draft.keep(path, value)
    if not is_text(value):
        return draft.leave(path, value)
    if draft.record.label:
        return draft.keep(path, value)
    draft.record.label = string(value)
    return "role"


def _text(value: Raw) -> str:
    """Return the string *value*; "" when it is none."""
    if value == NULL:
        return ""
    try:
        return string(value)
    except NotStrict:
        return ""


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _value(raw: Raw) -> object:
    """Return the string or number *raw*; True for anything else but null."""
    if raw == NULL:
        return None
    text = _text(raw)
    return text or (number(raw) or True)


def _first(tag: re.Pattern[str], text: str) -> str:
    matched = tag.search(text)
    return matched[1].strip() if matched else ""


ROLE_STEPS: Final[dict[str, Step]] = {
    **{key: _text_role(field) for key, field in TEXT_ROLES.items()},
    **dict.fromkeys(FLAG_MEMBERS, _flag),
    **dict.fromkeys(LABEL_TYPES, _label),
    "timestamp": _time,
    "type": _type,
}
