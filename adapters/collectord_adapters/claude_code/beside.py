"""
What the runtime gives beside a message: an attachment, a tool's structured result.

Neither is the message's own content, so both follow it: an attachment's text as text and
the rest of it as data, a ``toolUseResult`` on the result that it belongs to.

Source: docs/dialects/claude-code.md, "Content to parts".
"""

from typing import Final

from msgspec import UNSET, Raw

from collectord.sessiondata import Part, State
from collectord.sessiondata.rawjson import string
from collectord_adapters.claude_code.blocks import take_text
from collectord_adapters.claude_code.draft import Draft
from collectord_adapters.claude_code.roles import NO_RESULT, ToolUseResult, tool_use_result
from collectord_adapters.claude_code.values import NULL, built_object, is_text, parsed, text_of

__all__ = ["mark_spilled", "take_attachment", "take_tool_use_result"]

_SPILLED: Final = "<persisted-output>"
"""How the text of a result begins whose full output is in a file of its own."""


def take_attachment(raw: Raw, found: dict[str, Raw], draft: Draft) -> str:
    """
    Append the parts of the attachment *raw*, an object with the members *found*.

    Returns its place; "" when it was taken apart and its members have theirs.
    """
    key = "text" if is_text(found.get("text")) else "content"
    if not is_text(found.get(key)):
        return draft.put_data(raw)
    draft.open(raw, "attachment.")
    take_text(text_of(found, key), draft)
    rest = [(name, value) for name, value in found.items() if name != key]
    place = "part"
    if [name for name, _ in rest] == ["type"]:
        # Its type alone is no data part, and is said nowhere else.
        place = draft.keep("attachment.type", found["type"])
    elif rest:
        place = draft.put_data(built_object(rest))
    if draft.ledger is not None:
        keys = draft.ledger.keys_of(raw)
        draft.add("part", keys[key] + len(found[key]))
        for name, value in rest:
            draft.add(place, keys[name] + len(value))
    return ""


def take_tool_use_result(raw: Raw, draft: Draft) -> tuple[str, ToolUseResult]:
    """
    Put the ``toolUseResult`` *raw* where the record's results leave room.

    Returns its place, and what it says.
    """
    if raw == NULL:
        return "role", NO_RESULT
    value, reason = parsed(raw)
    said = tool_use_result(raw, value)
    results = draft.results
    _truncate(said, results)
    if reason:
        draft.put(raw, reason)
        return "unknown", said
    only = results[0] if len(results) == 1 else None
    if isinstance(value, dict):
        if only is not None and only.data is UNSET:
            # An empty object says nothing, and the format writes no empty field.
            only.data = raw if value else UNSET
            only.bytes = only.bytes or len(raw)
            return "part", said
    elif value is None:
        text = string(raw)
        if any(text in (result.text, f"Error: {result.text}") for result in results):
            return "part", said
    elif any(result.data is not UNSET and result.data == raw for result in results):
        return "part", said
    draft.parts.append(Part(k="data", data=raw, state=State.AVAILABLE, bytes=len(raw)))
    return "part", said


def mark_spilled(draft: Draft) -> None:
    """Mark the results whose text says that the whole output is in a file of its own."""
    for result in draft.results:
        if result.text.startswith(_SPILLED):
            result.state = State.TRUNCATED


def _truncate(said: ToolUseResult, results: list[Part]) -> None:
    if said.is_spilled and len(results) == 1:
        results[0].state = State.TRUNCATED
        if said.spilled_bytes >= 0:
            results[0].bytes = said.spilled_bytes
