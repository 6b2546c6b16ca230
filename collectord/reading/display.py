"""
A record as text for a person: who, and its parts, long ones shortened.

What a conversation holds is data from anywhere, and a terminal obeys control characters:
all text that leaves this module has them made visible, with the characters that turn the
direction of writing around.

Source: docs/reading.md, "Showing".
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import UNSET

from collectord.sessiondata import Line, Part, Record, State

__all__ = ["Block", "blocks", "inline", "one_line", "visible", "who"]

SHOWN_LINES: Final = 12
SHOWN_CHARACTERS: Final = 1200
_LINE_CHARACTERS: Final = 160

_CONTROLS: Final = [
    *(code for code in range(0x20) if code not in (0x09, 0x0A)),
    *range(0x7F, 0xA0),
]
_DIRECTIONS: Final = [
    0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF,
]  # fmt: skip
_VISIBLE: Final = {code: f"\\x{code:02x}" for code in _CONTROLS} | {
    code: f"\\u{code:04x}" for code in [*_DIRECTIONS, *range(0xD800, 0xE000)]
}


class Block(NamedTuple):
    """One part, as it is shown."""

    title: str
    """What it is: ``call Bash``, ``result``; "" for text."""
    text: str
    note: str = ""
    """What is not shown, or not there."""


def visible(text: str) -> str:
    """Return *text* without anything that a terminal obeys; tabs and newlines stay."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def inline(text: str) -> str:
    """Return *text* as `visible` does, in one line."""
    return visible(" ".join(text.split()))


def who(record: Record) -> str:
    """Return who a record is from, as a person says it."""
    if record.from_ == "external":
        if record.parts and all(part.k in ("result", "data", "unknown") for part in record.parts):
            return "tool" if any(part.k == "result" for part in record.parts) else "external"
        if "external_input" in record.flags or record.trigger == "external":
            return "person"
    return inline(record.from_) or "unknown"


def blocks(line: Line, *, full: bool = False) -> Iterator[Block]:
    """
    Yield what a record holds, part by part.

    Unless *full*, long texts are cut, with a note of how much more there is, and the
    structure that a runtime keeps beside the content is left out.
    """
    record = line.record
    content = any(part.k != "data" for part in record.parts)
    for part in record.parts:
        if part.k == "data" and content and not full:
            continue
        text = _text(part)
        size = part.bytes if isinstance(part.bytes, int) else len(text.encode())
        note = _state(part, size)
        if line.data_range is not None:
            start, stop = line.data_range
            text, note = "", f"{size:,} bytes, at byte {start:,} to {stop:,} of the file"
        if not full:
            shown, more = _shortened(text, one_line=part.k == "data")
            if more:
                note = f"{note}; {more}" if note else more
            text = shown
        yield Block(_title(part), visible(text), note)
    if full:
        for entry in record.dropped:
            yield Block("dropped", "", inline(f"{entry.what}, {entry.bytes:,} bytes: {entry.why}"))


def one_line(line: Line, *, characters: int = _LINE_CHARACTERS) -> str:
    """Return a record's content in one line of at most *characters*."""
    words: list[str] = []
    for block in blocks(line):
        text = " ".join(block.text.split())
        words.append(f"[{block.title}] {text}".strip() if block.title else text)
    whole = " ".join(word for word in words if word)
    return whole if len(whole) <= characters else whole[: max(0, characters - 1)] + "…"


def _title(part: Part) -> str:
    match part.k:
        case "text":
            return ""
        case "call":
            return inline(f"call {part.name}")
        case "result":
            return "failed result" if part.failed else "result"
        case "media":
            return inline(f"media {part.media}")
        case _:
            return inline(part.k)


def _text(part: Part) -> str:
    data = "" if part.data is UNSET else bytes(part.data).decode("utf-8", "replace")
    if part.k == "media":
        return ""
    if part.k == "unknown" and part.text:
        return f"{part.text}: {data}"
    if part.text:
        return part.text
    return data


def _state(part: Part, size: int) -> str:
    if part.k == "media":
        return f"{size:,} bytes"
    if part.state in ("", State.AVAILABLE):
        return ""
    return inline(f"{part.state}, {size:,} bytes in the original")


def _shortened(text: str, *, one_line: bool) -> tuple[str, str]:
    limit = _LINE_CHARACTERS if one_line else SHOWN_CHARACTERS
    lines = text.split("\n", SHOWN_LINES)
    shown = "\n".join(lines[:SHOWN_LINES])[:limit]
    if len(shown) == len(text):
        return text, ""
    return shown, f"{len(text) - len(shown):,} more characters"
