"""
The ``attachment`` of a usual line: its text as text, the rest of it as data.

Source: docs/dialects/claude-code.md, "Content to parts".
"""

from typing import Final

from msgspec import Raw

from collectord.sessiondata import Part, State
from collectord_adapters.claude_code.steps import shape_size
from collectord_adapters.claude_code.usual.values import (
    Unusual,
    is_plain,
    kept_piece,
    string_of,
    utf8_bytes,
)
from collectord_adapters.claude_code.values import NULL, built_object, key_of

__all__ = ["take_attachment"]

_AVAILABLE: Final = State.AVAILABLE.value
_SPECIAL: Final = (Raw(b'"queued_command"'), Raw(b'"prompt_snapshot"'))
"""Types that say more of their record than that it was put in."""
_QUOTE: Final = b'"'


def take_attachment(
    found: dict[str, Raw], view: bytes, at: int, parts: list[Part], pieces: list[bytes]
) -> int:
    """
    Append what the attachment with the members *found*, which starts at *at*, becomes.

    Returns where it ends. Raises `Unusual` and what decoding raises.
    """
    kind = found["type"]
    # A type that is written with escapes may be a special one.
    if "origin" in found or kind in _SPECIAL or b"\\" in bytes(kind):
        raise Unusual
    end = at + shape_size(tuple(found)) + sum(map(len, found.values()))
    key = "text" if _is_text(found.get("text", NULL)) else "content"
    if not _is_text(found.get(key, NULL)):
        _put(Raw(view[at:end]), parts)
        return end
    text = string_of(found[key])
    parts.append(Part(k="text", text=text, state=_AVAILABLE, bytes=utf8_bytes(text)))
    rest = [(name, value) for name, value in found.items() if name != key]
    if len(rest) > 1:
        _put(built_object(rest), parts)
    elif kind != NULL:
        pieces.append(kept_piece(key_of("attachment.type"), kind))
    return end


def _is_text(value: Raw) -> bool:
    return bytes(value)[:1] == _QUOTE


def _put(data: Raw, parts: list[Part]) -> None:
    if not is_plain(bytes(data)):
        raise Unusual
    parts.append(Part(k="data", data=data, state=_AVAILABLE, bytes=len(data)))
