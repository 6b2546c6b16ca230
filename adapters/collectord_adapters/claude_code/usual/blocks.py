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
    string_of,
    text_of,
    text_or_blocks,
    utf8_bytes,
)
from collectord_adapters.claude_code.values import key_of

__all__ = ["take_blocks"]

# The words themselves: encoding an enum's member costs more than all the rest of a part.
_AVAILABLE: Final = State.AVAILABLE.value
_UNAVAILABLE: Final = State.UNAVAILABLE.value
_TEXT_WORD: Final = Raw(b'"text"')
_SPILLED: Final = "<persisted-output>"
_SHAPES: Final = 256
_SHORT_BYTES: Final = 100
_TEXTS: Final = frozenset({"type", "id", "name", "signature", "tool_use_id"})
"""Members of a block that the scan decodes."""
_TEXT_BLOCK_BYTES: Final = len('{"type":"text","text":},')


class _Shape:
    """The names of a block's members, in order, and what follows from them."""

    __slots__ = ("ahead", "before", "kept", "kind", "size", "take")

    def __init__(self, keys: tuple[str, ...], kind: str) -> None:
        take, places = _KINDS[kind]
        if not places.issuperset(keys):
            raise Unusual
        self.take = take
        self.kind = kind
        self.size = 1 + sum(len(key) + 4 for key in keys)
        """Bytes of the names and the punctuation, of the type and of the quotes around texts."""
        self.size += len(kind) + 2 * len(_TEXTS.intersection(keys))
        self.kept = tuple(key for key in keys if key in BLOCK_KEPT)
        self.before: dict[str, tuple[int, Raw, bytes]] = {}
        """Of each of these what it was last, in which place, and what was kept of it."""
        self.ahead = 0
        """Bytes that stand before the value of ``input``, which follows both texts."""
        if kind == "tool_use":
            if keys[:4] != ("type", "id", "name", "input"):
                raise Unusual
            self.ahead = 1 + len('"type":"tool_use","id":"","name":"","input":')


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
        keys = tuple(block)
        shape = _shapes.get(keys)
        if shape is None or shape.kind != block["type"]:
            shape = _learn(keys, block["type"])
        part, at = shape.take(block, shape, view, at, dropped)
        parts.append(part)
        at += 1
        for key in shape.kept:
            value = block[key]
            at += len(value)
            before = shape.before.get(key)
            if before is None or before[0] != index or before[1] != value:
                before = _kept(index, key, value)
                if len(value) <= _SHORT_BYTES:
                    shape.before[key] = before
            if before[2]:
                pieces.append(before[2])
    return at


def _kept(index: int, key: str, value: Raw) -> tuple[int, Raw, bytes]:
    piece = kept_piece(key_of(f"message.content.{index}.{key}"), value)
    # A copy, because a slice would keep its whole line in memory.
    return index, Raw(bytes(value)), piece


def _learn(keys: tuple[str, ...], kind: str) -> _Shape:
    if len(_shapes) >= _SHAPES:
        _shapes.clear()
    shape = _shapes[keys] = _Shape(keys, kind)
    return shape


def _take_text(
    block: Block, shape: _Shape, view: bytes, at: int, dropped: list[Dropped]
) -> tuple[Part, int]:
    written = block["text"]
    text = string_of(written)
    part = Part(k="text", text=text, state=_AVAILABLE, bytes=utf8_bytes(text))
    return part, at + shape.size + len(written)


def _take_thinking(
    block: Block, shape: _Shape, view: bytes, at: int, dropped: list[Dropped]
) -> tuple[Part, int]:
    written = block["thinking"]
    at += shape.size + len(written)
    text = text_of(written) or ""
    signature = block.get("signature")
    if signature:
        # Base64 is ASCII and has no escapes; of anything else this is not the size.
        size = len(signature)
        at += size
        dropped.append(Dropped("reasoning signature", size, WHY_SIGNATURE))
    state = _AVAILABLE if text else _UNAVAILABLE
    return Part(k="reasoning", text=text, state=state, bytes=utf8_bytes(text)), at


def _take_call(
    block: Block, shape: _Shape, view: bytes, at: int, dropped: list[Dropped]
) -> tuple[Part, int]:
    call = block["id"]
    name = block["name"]
    start = at + shape.ahead + len(call) + len(name)
    end = end_of_object(view, start, block["input"])
    part = Part(
        k="call",
        id=call,
        name=name,
        data=Raw(view[start:end]),
        state=_AVAILABLE,
        bytes=end - start,
    )
    return part, end + shape.size - shape.ahead


def _take_result(
    block: Block, shape: _Shape, view: bytes, at: int, dropped: list[Dropped]
) -> tuple[Part, int]:
    call = block["tool_use_id"]
    content = block["content"]
    at += shape.size + len(call) + len(content)
    failed = block.get("is_error")
    if failed is not None:
        at += 4 if failed else 5
    said = text_or_blocks(content)
    text = said if isinstance(said, str) else _joined(said, len(content))
    if text.startswith(_SPILLED):
        raise Unusual
    part = Part(
        k="result",
        of=call,
        text=text,
        failed=failed,
        state=_AVAILABLE,
        bytes=utf8_bytes(text),
    )
    return part, at


def _joined(blocks: list[dict[str, Raw]], size: int) -> str:
    """Return the texts of a result's *blocks*, a list of *size* bytes, where all are text."""
    texts = []
    left = size - 1
    for block in blocks:
        text = block["text"]
        if block["type"] != _TEXT_WORD:
            raise Unusual
        left -= _TEXT_BLOCK_BYTES + len(text)
        texts.append(string_of(text))
    if left:
        # Other members, white space, or no block at all.
        raise Unusual
    return "\n".join(texts)


_Take = Callable[[Block, _Shape, bytes, int, list[Dropped]], tuple[Part, int]]


def _kind(take: _Take, *names: str) -> tuple[_Take, frozenset[str]]:
    return take, BLOCK_KEPT.union(names)


_KINDS: Final = {
    "text": _kind(_take_text, "type", "text"),
    "thinking": _kind(_take_thinking, "type", "thinking", "signature"),
    "tool_use": _kind(_take_call, "type", "id", "name", "input"),
    "tool_result": _kind(_take_result, "type", "tool_use_id", "content", "is_error"),
}
"""How each type of block is taken, and which members it may have."""
_shapes: dict[tuple[str, ...], _Shape] = {}
