"""
Content blocks of a usual line: text, reasoning, one tool's call, its textual result.

Source: docs/dialects/claude-code.md, "Content to parts".
"""

from collections.abc import Callable
from typing import Final

from msgspec import Raw

from collectord.sessiondata import Dropped, Part, State
from collectord_adapters.claude_code.blocks import WHY_SIGNATURE
from collectord_adapters.claude_code.members import BLOCK_KEPT
from collectord_adapters.claude_code.usual.scan import Block
from collectord_adapters.claude_code.usual.values import (
    Unusual,
    end_of_object,
    kept_piece,
    text_of,
    text_or_blocks,
)
from collectord_adapters.claude_code.values import NULL, TRUE, key_of

__all__ = ["take_blocks"]

# The words themselves: encoding an enum's member costs more than all the rest of a part.
_AVAILABLE: Final = State.AVAILABLE.value
_UNAVAILABLE: Final = State.UNAVAILABLE.value
_FALSE: Final = Raw(b"false")
_TEXT_WORD: Final = Raw(b'"text"')
_SPILLED: Final = "<persisted-output>"
_SHAPES: Final = 256
_TEXT_BLOCK_BYTES: Final = len('{"type":"text","text":},')


class _Shape:
    """The names of a block's members, in order, and what follows from them."""

    __slots__ = ("ahead", "input", "kept", "size")

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.size = 1 + sum(len(key) + 4 for key in keys)
        """Bytes of the names and the punctuation."""
        self.kept = tuple(key for key in keys if key in BLOCK_KEPT)
        self.input = keys.index("input") if "input" in keys else len(keys)
        self.ahead = sum(len(key) + 4 for key in keys[: self.input + 1])
        """Those of them that stand before the value of ``input``."""


def take_blocks(
    content: list[Block],
    view: bytes,
    at: int,
    parts: list[Part],
    dropped: list[Dropped],
    pieces: list[bytes],
) -> int:
    """
    Append what the blocks of *content*, a list that starts at *at*, become.

    Returns where the list ends. Raises `Unusual` and what decoding raises.
    """
    if not content:
        raise Unusual
    at += 1
    for index, block in enumerate(content):
        take, places, shapes = _KINDS[text_of(block["type"]) or ""]
        keys = tuple(block)
        shape = shapes.get(keys)
        if shape is None:
            shape = _learn(keys, places, shapes)
        part, at = take(block, shape, view, at, dropped)
        parts.append(part)
        at += 1
        for key in shape.kept:
            piece = kept_piece(key_of(f"message.content.{index}.{key}"), block[key])
            if piece:
                pieces.append(piece)
    return at


def _learn(
    keys: tuple[str, ...], places: frozenset[str], shapes: dict[tuple[str, ...], _Shape]
) -> _Shape:
    if not places.issuperset(keys):
        raise Unusual
    if len(shapes) >= _SHAPES:
        shapes.clear()
    shape = shapes[keys] = _Shape(keys)
    return shape


def _take_text(
    block: Block, shape: _Shape, view: bytes, at: int, dropped: list[Dropped]
) -> tuple[Part, int]:
    text = text_of(block["text"])
    if text is None:
        raise Unusual
    part = Part(k="text", text=text, state=_AVAILABLE, bytes=_utf8_bytes(text))
    return part, at + shape.size + sum(map(len, block.values()))


def _take_thinking(
    block: Block, shape: _Shape, view: bytes, at: int, dropped: list[Dropped]
) -> tuple[Part, int]:
    text = text_of(block["thinking"]) or ""
    signature = block.get("signature")
    if signature is not None:
        written = bytes(signature)
        # Base64 has no escapes; then the string is what stands between the quotes.
        if written[:1] != b'"' or b"\\" in written:
            raise Unusual
        if len(written) > 2:
            dropped.append(Dropped("reasoning signature", len(written) - 2, WHY_SIGNATURE))
    state = _AVAILABLE if text else _UNAVAILABLE
    part = Part(k="reasoning", text=text, state=state, bytes=_utf8_bytes(text))
    return part, at + shape.size + sum(map(len, block.values()))


def _take_call(
    block: Block, shape: _Shape, view: bytes, at: int, dropped: list[Dropped]
) -> tuple[Part, int]:
    place = shape.input
    values = list(block.values())
    start = at + shape.ahead + sum(map(len, values[:place]))
    end = end_of_object(view, start, block["input"])
    part = Part(
        k="call",
        id=text_of(block["id"]) or "",
        name=text_of(block["name"]) or "",
        data=Raw(view[start:end]),
        state=_AVAILABLE,
        bytes=end - start,
    )
    return part, end + shape.size - shape.ahead + sum(map(len, values[place + 1 :]))


def _take_result(
    block: Block, shape: _Shape, view: bytes, at: int, dropped: list[Dropped]
) -> tuple[Part, int]:
    failed = None
    is_error = block.get("is_error")
    if is_error is not None and is_error != NULL:
        failed = is_error == TRUE
        if not failed and is_error != _FALSE:
            raise Unusual
    content = block["content"]
    said = text_or_blocks(content)
    text = said if isinstance(said, str) else _joined(said, len(content))
    if text.startswith(_SPILLED):
        raise Unusual
    part = Part(
        k="result",
        of=text_of(block["tool_use_id"]) or "",
        text=text,
        failed=failed,
        state=_AVAILABLE,
        bytes=_utf8_bytes(text),
    )
    return part, at + shape.size + sum(map(len, block.values()))


def _joined(blocks: list[dict[str, Raw]], size: int) -> str:
    """Return the texts of a result's *blocks*, a list of *size* bytes, where all are text."""
    texts = []
    left = size - 1
    for block in blocks:
        text = block["text"]
        if block["type"] != _TEXT_WORD:
            raise Unusual
        left -= _TEXT_BLOCK_BYTES + len(text)
        found = text_of(text)
        if found is None:
            raise Unusual
        texts.append(found)
    if left:
        # Other members, white space, or no block at all.
        raise Unusual
    return "\n".join(texts)


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


_Take = Callable[[Block, _Shape, bytes, int, list[Dropped]], tuple[Part, int]]


def _kind(take: _Take, *names: str) -> tuple[_Take, frozenset[str], dict[tuple[str, ...], _Shape]]:
    return take, BLOCK_KEPT.union(names), {}


_KINDS: Final = {
    "text": _kind(_take_text, "type", "text"),
    "thinking": _kind(_take_thinking, "type", "thinking", "signature"),
    "tool_use": _kind(_take_call, "type", "id", "name", "input"),
    "tool_result": _kind(_take_result, "type", "tool_use_id", "content", "is_error"),
}
"""How each type of block is taken, which members it may have, and the shapes met so far."""
