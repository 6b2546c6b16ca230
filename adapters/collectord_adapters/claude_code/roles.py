"""
The role fields, the flags and the trigger of a record.

Roles are read in one way for every record, whether it is taken apart or kept whole. A
member that has another type than the runtime gives it sets nothing; where a record is
taken apart, `dialect` sees that and carries the member's bytes.

Source: docs/dialects/claude-code.md, "Record to role fields" and "Flags".
"""

import re
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from collectord.adapter import Source
from collectord.sessiondata import FLAGS, From, Kind, Record, Usage
from collectord.sessiondata.rawjson import NotStrict, string
from collectord.sources import RawRecord
from collectord_adapters.claude_code.draft import NULL, text_of
from collectord_adapters.claude_code.members import AGENT_META_LABEL, LABEL_TYPES, USAGE

__all__ = [
    "NO_RESULT",
    "ToolUseResult",
    "number",
    "read_document_roles",
    "read_roles",
    "tool_use_result",
]

_TRUE: Final = Raw(b"true")
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
"""RFC 3339; what is no time sets none."""

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
_TRIGGERS: Final = {"human": "external", "task-notification": "notification"}
_FROM: Final = {"assistant": From.AGENT, "user": From.EXTERNAL}
_TIMELESS: Final = frozenset({Kind.AGENT_META, Kind.WORKFLOW_MANIFEST, Kind.WORKFLOW_SCRIPT})
"""Kinds whose records carry no time (the format's page): a file of them has no time range."""


class ToolUseResult(msgspec.Struct):
    """What is read of a ``toolUseResult`` that is an object; the rest of it is only carried."""

    agentId: Raw = Raw(b"")
    toolUseId: Raw = Raw(b"")
    runId: Raw = Raw(b"")
    status: Raw = Raw(b"")
    persistedOutputPath: Raw = Raw(b"")
    persistedOutputSize: Raw = Raw(b"")


class _Origin(msgspec.Struct):
    kind: Raw = Raw(b"")


NO_RESULT: Final = ToolUseResult()
_decode_result: Final = msgspec.json.Decoder(ToolUseResult).decode
_decode_origin: Final = msgspec.json.Decoder(_Origin).decode


class _Facts(NamedTuple):
    type: str
    is_meta: bool
    origin_kind: str | None
    """None: no origin says one; a kind that is no string is some other kind."""
    is_sdk: bool
    said: ToolUseResult


def tool_use_result(found: dict[str, Raw]) -> ToolUseResult:
    """Return what a record's ``toolUseResult`` says; nothing when it is no object."""
    value = found.get("toolUseResult")
    if value is None:
        return NO_RESULT
    try:
        return _decode_result(value)
    except (msgspec.DecodeError, RecursionError):
        return NO_RESULT


def read_roles(
    raw: RawRecord,
    source: Source,
    found: dict[str, Raw],
    *,
    message: dict[str, Raw] | None = None,
    usage: dict[str, Raw] | None = None,
    attachment: dict[str, Raw] | None = None,
    prompt: str = "",
    said: ToolUseResult | None = None,
) -> Record:
    """
    Return a record of a transcript with every field but its content.

    Args:
        raw: The source record.
        source: Where it stands.
        found: Its members.
        message: Those of its ``message``, when that is an object and was taken apart.
        usage: Those of the message's ``usage``, likewise.
        attachment: Those of its ``attachment``, likewise.
        prompt: The message's content, when that is a plain string.
        said: What its ``toolUseResult`` says, when the caller has read it.
    """
    type_ = text_of(found, "type")
    said = tool_use_result(found) if said is None else said
    facts = _Facts(
        type_,
        found.get("isMeta") == _TRUE,
        _origin_kind(found, attachment),
        text_of(found, "promptSource") == "sdk",
        said,
    )
    record = Record(
        ord=raw.ord,
        off=raw.off,
        sha=raw.sha,
        bytes=raw.size,
        id=text_of(found, "uuid"),
        parent=text_of(found, "parentUuid"),
        run=text_of(found, "promptId"),
        from_=_FROM.get(type_, From.RUNTIME),
        time=_time(found),
        batch=source.batch,
        label=_label(found, type_),
        trigger=_trigger(facts),
        flags=_flags(found, facts, message, attachment),
    )
    if type_ == "system" and record.flags and "context_reset" in record.flags:
        record.continues = text_of(found, "logicalParentUuid")
    if said is not NO_RESULT:
        record.tool = _text(said.toolUseId)
        record.child = _text(said.agentId)
        record.batch = _text(said.runId) or source.batch
    if message is not None:
        if type_ == "assistant":
            record.call = text_of(message, "id")
        record.model = text_of(message, "model")
        if usage:
            record.usage = _usage(usage)
    if prompt.lstrip().startswith("<task-notification>"):
        record.tool = record.tool or _first(_TOOL_USE_ID, prompt)
        task = _first(_TASK_ID, prompt)
        if not record.child and _AGENT_ID.fullmatch(task):
            record.child = task
    return record


def read_document_roles(raw: RawRecord, source: Source, found: dict[str, Raw]) -> Record:
    """Return the record of a sidecar, a manifest or a journal's line, without its content."""
    record = read_roles(raw, source, found)
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
    return record


def number(value: Raw) -> int | float | None:
    """Return the JSON number *value*; None when it is none, or none that 64 bits hold."""
    try:
        found = msgspec.json.decode(value, type=int | float)
    except (msgspec.DecodeError, RecursionError):
        return None
    if isinstance(found, int):
        return found if -(1 << 63) <= found < 1 << 63 else None
    is_integer = not any(mark in bytes(value) for mark in (b".", b"e", b"E"))
    return None if is_integer or found in (float("inf"), float("-inf")) else found


def _usage(found: dict[str, Raw]) -> Usage | None:
    counts = {
        field: count
        for key, field in USAGE.items()
        if (value := found.get(key)) is not None and (count := number(value)) is not None
    }
    return Usage(**counts) if counts else None


def _flags(
    found: dict[str, Raw],
    facts: _Facts,
    message: dict[str, Raw] | None,
    attachment: dict[str, Raw] | None,
) -> list[str]:
    """Return the flags in the format's order."""
    is_agent = facts.type == "assistant" and message is not None
    system = ""
    if facts.type == "system":
        system = _SYSTEM_FLAGS.get(text_of(found, "subtype"), "notice")
    status = _text(facts.said.status)
    injected, external = facts.is_meta, False
    shows_prompt = facts.type == "api-request-shape"
    if attachment is not None:
        kind = text_of(attachment, "type")
        queued = kind == "queued_command" and text_of(attachment, "commandMode") == "prompt"
        injected, external = injected or not queued, queued
        shows_prompt = shows_prompt or kind == "prompt_snapshot"
    elif facts.type == "attachment":
        injected = True
    if facts.type == "user":
        human = facts.origin_kind == "human" or (facts.origin_kind is None and facts.is_sdk)
        external = external or human
    flags = []
    if is_agent and message is not None and text_of(message, "model") == "<synthetic>":
        flags.append("synthetic")
    if system == "context_reset":
        flags.append("context_reset")
    if found.get("isCompactSummary") == _TRUE:
        flags.append("reset_summary")
    if is_agent and message is not None and text_of(message, "stop_reason"):
        flags.append("finished")
    if external and not facts.is_meta:
        flags.append("external_input")
    if injected:
        flags.append("injected")
    if status == "completed":
        flags.append("child_result")
    if system == "error":
        flags.append("error")
    if status == "async_launched":
        flags.append("launch_ack")
    if system in ("turn_duration", "command", "notice"):
        flags.append(system)
    if shows_prompt:
        flags += ("system_prompt", "tool_schemas")
    return flags


def _trigger(facts: _Facts) -> str:
    if facts.origin_kind is not None:
        return _TRIGGERS.get(facts.origin_kind, "unknown")
    if facts.type == "user" and facts.is_sdk and not facts.is_meta:
        return "external"
    return ""


def _origin_kind(found: dict[str, Raw], attachment: dict[str, Raw] | None) -> str | None:
    for holder in (found, attachment):
        value = holder.get("origin") if holder else None
        if value is None:
            continue
        try:
            kind = _decode_origin(value).kind
        except (msgspec.DecodeError, RecursionError):
            continue
        if kind and kind != NULL:
            return _text(kind)
    return None


def _label(found: dict[str, Raw], type_: str) -> str:
    for key, on in LABEL_TYPES.items():
        if key in found and on in ("", type_):
            label = text_of(found, key)
            if label:
                return label
    return ""


def _time(found: dict[str, Raw]) -> str:
    text = text_of(found, "timestamp")
    return text if _TIME.fullmatch(text) else ""


def _text(value: Raw) -> str:
    """Return the string *value*; "" when it is none."""
    try:
        return string(value) if value else ""
    except NotStrict:
        return ""


def _first(tag: re.Pattern[str], text: str) -> str:
    matched = tag.search(text)
    return matched[1].strip() if matched else ""
