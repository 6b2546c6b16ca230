"""
What the runtime gives beside a message: an attachment, a tool's structured result.

Neither is the message's own content, so both follow it: an attachment's text as text and
the rest of it as data, a ``toolUseResult`` on the result that it belongs to.

Source: docs/dialects/claude-code.md, "Content to parts".
"""

from typing import Final

from msgspec import UNSET, Raw

from collectord.sessiondata import State
from collectord.sessiondata.rawjson import strict, string
from collectord_adapters.claude_code.blocks import take_text
from collectord_adapters.claude_code.draft import Draft
from collectord_adapters.claude_code.roles import ToolUseResult
from collectord_adapters.claude_code.values import NULL, built_object, is_text, number, text_of

__all__ = ["take_attachment", "take_tool_use_result"]

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


def take_tool_use_result(raw: Raw, said: ToolUseResult, draft: Draft) -> str:
    """Put the ``toolUseResult`` *raw* where the record's results leave room; return its place."""
    results = draft.results
    only = results[0] if len(results) == 1 else None
    _truncate(said, draft)
    if raw == NULL:
        return "role"
    first = bytes(raw)[:1]
    if first == b'"':
        text = string(raw)
        if any(text in (result.text, f"Error: {result.text}") for result in results):
            return "part"
    elif any(result.data is not UNSET and result.data == raw for result in results):
        return "part"
    elif first == b"{" and only is not None and only.data is UNSET and not strict(raw):
        only.data = raw
        if not only.text and only.bytes == 0:
            only.bytes = len(raw)
        return "part"
    return draft.put_data(raw)


def _truncate(said: ToolUseResult, draft: Draft) -> None:
    """Mark the results whose output the runtime spilled to a file."""
    stated = said.persistedOutputPath != NULL or said.persistedOutputSize != NULL
    size = number(said.persistedOutputSize) if stated else None
    for result in draft.results:
        is_stated = stated and len(draft.results) == 1
        if is_stated or result.text.startswith(_SPILLED):
            result.state = State.TRUNCATED
        if is_stated and isinstance(size, int) and size >= 0:
            result.bytes = size
