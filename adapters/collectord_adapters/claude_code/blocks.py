"""
Content blocks to parts: every block, in order, one part each.

A block of a type that the dialect page does not list, or whose content is not what its
type says, is one ``unknown`` part with the block's bytes. A member of a known block that
no list names goes to the record's unknown members, under its dotted path.

Source: docs/dialects/claude-code.md, "Content to parts".
"""

from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from collectord.sessiondata import Dropped, Part, State
from collectord.sessiondata.rawjson import Member, NotStrict, array, object_of, string
from collectord_adapters.claude_code.draft import Draft
from collectord_adapters.claude_code.members import BLOCK_KEPT
from collectord_adapters.claude_code.steps import shape_size
from collectord_adapters.claude_code.values import NULL, TRUE, check_compact, opened, parsed

__all__ = ["WHY_SIGNATURE", "take_blocks", "take_text"]

_BOOLEANS: Final = (TRUE, Raw(b"false"))
_NO_TYPE: Final = Raw(b'""')
WHY_SIGNATURE: Final = "a provider verifies it; a reader cannot read it"
_WHY_REDACTED: Final = "the provider encrypted it; only the provider can read it"


_decode_blocks: Final = msgspec.json.Decoder(list[dict[str, Raw]]).decode


class _Misfit(Exception):
    """The block's content is not what its type says; the message is the unknown part's text."""


class _Block:
    """One block whose type is known."""

    # What few blocks change stands on the class: setting it on each costs more.
    odd: frozenset[str] = frozenset()
    """Members whose value is not what the runtime writes there: unknown members."""
    dropped: tuple[Dropped, ...] = ()
    source = False
    """Whether the member ``source`` was taken apart."""

    def __init__(self, found: dict[str, Raw]) -> None:
        self.found = found

    def text(self, key: str) -> str:
        """Return the string member *key*, noting one that is something else."""
        value = self.found.get(key)
        if value is None or value == NULL:
            return ""
        try:
            return string(value)
        except NotStrict:
            self.odd |= {key}
            return ""

    def content(self, key: str) -> str:
        """Return the string member *key*, without which there is nothing to make a part of."""
        try:
            return string(self.found[key])
        except (NotStrict, KeyError):
            raise _Misfit(f"a block without a readable `{key}` keeps its bytes") from None

    def drop(self, key: str, what: str, why: str) -> int:
        """Note the loss of the member *key*; return its size in bytes."""
        value = self.found.get(key)
        if value is None or value == NULL:
            return 0
        try:
            size = _utf8_bytes(string(value))
        except NotStrict:
            check_compact(value)
            size = len(value)
        if size:
            self.dropped = (*self.dropped, Dropped(what, size, why))
        return size


def take_text(text: str, draft: Draft) -> None:
    """Append *text* as a text part."""
    draft.parts.append(Part(k="text", text=text, state=State.AVAILABLE, bytes=_utf8_bytes(text)))


def take_blocks(content: Raw, draft: Draft) -> None:
    """
    Append the part that each block of the list *content* is.

    Raises:
        NotStrict: It is no list.
        NotCompact: It has white space between its tokens.
    """
    plain = _plain_blocks(content)
    if plain is None:
        for index, raw in enumerate(array(content)):
            _take_raw(raw, index, draft)
        return
    for index, found in enumerate(plain):
        _take(found, [], partial(_block_at, content, index), index, draft)


def _plain_blocks(content: Raw) -> list[dict[str, Raw]] | None:
    """Return the blocks in one pass, where all are objects without repeated names; else None."""
    try:
        blocks = _decode_blocks(content)
    except (msgspec.DecodeError, RecursionError):
        return None
    size = 1 + len(blocks) if blocks else 2
    for found in blocks:
        size += shape_size(tuple(found)) + sum(map(len, found.values()))
    return blocks if size == len(content) else None


def _block_at(content: Raw, index: int) -> Raw:
    return array(content)[index]


def _take_raw(raw: Raw, index: int, draft: Draft) -> None:
    try:
        found, hidden = opened(raw)
    except NotStrict:
        _keep_whole(raw, "a block that is not an object is not one this dialect describes", draft)
        return
    _take(found, hidden, lambda: raw, index, draft)


def _take(
    found: dict[str, Raw],
    hidden: list[Member],
    raw: Callable[[], Raw],
    index: int,
    draft: Draft,
) -> None:
    """Append the part that a block with the members *found* is; *raw* gives its bytes."""
    value = found.get("type", _NO_TYPE)
    try:
        kind = string(value)
    except NotStrict:
        kind = bytes(value).decode()
    read = _BLOCKS.get(kind)
    if read is None and kind.endswith("_tool_result"):
        read = _BLOCKS["tool_result"]
    if read is None:
        name = kind if len(kind) <= 80 else kind[:79] + "…"
        _keep_whole(raw(), f'block type "{name}" is not one this dialect describes', draft)
        return
    block = _Block(found)
    make, places = read
    try:
        part = make(block)
    except _Misfit as misfit:
        _keep_whole(raw(), str(misfit), draft)
        return
    draft.parts.append(part)
    if block.dropped:
        draft.record.dropped += block.dropped
    if part.k == "result":
        draft.results.append(part)
    # In most blocks every member is content, and there is nothing left to place.
    if draft.ledger or block.odd or block.source or hidden or not found.keys() <= places.keys():
        path = f"message.content.{index}."
        for member in hidden:
            draft.add(draft.leave(path + member.key, member.value), member.size)
        _place(raw, block, path, places, draft)


def _place(
    raw: Callable[[], Raw], block: _Block, path: str, places: dict[str, str], draft: Draft
) -> None:
    """Send every member of *block* to its place."""
    keys = draft.ledger.keys_of(raw()) if draft.ledger else None
    for key, value in block.found.items():
        if key == "source" and block.source:
            _place_source(value, path + "source.", keys[key] if keys else 0, draft)
            continue
        if key in places and key not in block.odd:
            place = places[key]
        elif key in BLOCK_KEPT:
            place = draft.keep(path + key, value)
        else:
            place = draft.leave(path + key, value)
        if keys is not None:
            draft.add(place, keys[key] + len(value))


def _place_source(raw: Raw, path: str, key_size: int, draft: Draft) -> None:
    draft.add("part", key_size)
    found = draft.open(raw, path)
    keys = draft.ledger.keys_of(raw) if draft.ledger else None
    for key, value in found.items():
        place = "part" if key in _SOURCE else draft.leave(path + key, value)
        if keys is not None:
            draft.add(place, keys[key] + len(value))


def _text(block: _Block) -> Part:
    text = block.content("text")
    return Part(k="text", text=text, state=State.AVAILABLE, bytes=_utf8_bytes(text))


def _thinking(block: _Block) -> Part:
    value = block.found.get("thinking")
    text = "" if value is None or value == NULL else block.content("thinking")
    block.drop("signature", "reasoning signature", WHY_SIGNATURE)
    state = State.AVAILABLE if text else State.UNAVAILABLE
    return Part(k="reasoning", text=text, state=state, bytes=_utf8_bytes(text))


def _redacted_thinking(block: _Block) -> Part:
    size = block.drop("data", "redacted reasoning", _WHY_REDACTED)
    return Part(k="reasoning", state=State.REDACTED, bytes=size)


def _call(block: _Block) -> Part:
    value = block.found.get("input", NULL)
    given = value != NULL
    return Part(
        k="call",
        id=block.text("id"),
        name=block.text("name"),
        data=_strict(value) if given else UNSET,
        state=State.AVAILABLE,
        bytes=len(value) if given else 0,
    )


def _result(block: _Block) -> Part:
    failed = None
    value = block.found.get("is_error")
    if value in _BOOLEANS:
        failed = value == TRUE
    elif value is not None and value != NULL:
        block.odd |= {"is_error"}
    text, data, size = _result_content(block.found.get("content", NULL))
    return Part(
        k="result",
        of=block.text("tool_use_id"),
        text=text,
        data=data,
        failed=failed,
        state=State.AVAILABLE,
        bytes=size,
    )


def _result_content(content: Raw) -> tuple[str, Raw | UnsetType, int]:
    """Return (text, data, bytes) of a result: data only where there is more than text."""
    if content == NULL:
        return "", UNSET, 0
    try:
        text = string(content)
    except NotStrict:
        text, is_text = _joined(content)
        if not is_text:
            return text, _strict(content), len(content)
    return text, UNSET, _utf8_bytes(text)


def _joined(content: Raw) -> tuple[str, bool]:
    """Return the text blocks of a result's content, and whether there is nothing else in it."""
    try:
        blocks = array(content)
    except NotStrict:
        return "", False
    texts = []
    is_text = True
    for raw in blocks:
        try:
            found, hidden = object_of(raw)
            if string(found["type"]) != "text":
                is_text = False
                continue
            texts.append(string(found["text"]))
            is_text = is_text and len(found) == 2 and not hidden
        except (NotStrict, KeyError):
            is_text = False
    return "\n".join(texts), is_text


def _media(block: _Block) -> Part:
    value = block.found.get("source")
    if value is None or value == NULL:
        raise _Misfit("a block without a readable `source` keeps its bytes")
    try:
        source, _ = opened(value)
        if string(source["type"]) == "base64":
            media, data = string(source["media_type"]), source["data"]
            size = _utf8_bytes(string(data))
            block.source = True
            return Part(k="media", media=media, data=data, state=State.AVAILABLE, bytes=size)
    except (NotStrict, KeyError):
        pass
    return Part(k="media", data=_strict(value), state=State.AVAILABLE, bytes=len(value))


def _strict(value: Raw) -> Raw:
    """Return *value* when every strict parser reads it as a part's data."""
    reason = parsed(value)[1]
    if reason:
        raise _Misfit(reason)
    return value


def _keep_whole(raw: Raw, reason: str, draft: Draft) -> None:
    draft.put(raw, reason)
    draft.add("unknown", len(raw))


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


_SOURCE: Final = frozenset({"type", "media_type", "data"})
_CALL: Final = (_call, dict.fromkeys(("type", "id", "name", "input"), "part"))
_MEDIA: Final = (_media, dict.fromkeys(("type", "source"), "part"))
_BLOCKS: Final[dict[str, tuple[Callable[[_Block], Part], dict[str, str]]]] = {
    "text": (_text, dict.fromkeys(("type", "text"), "part")),
    "thinking": (_thinking, {"type": "part", "thinking": "part", "signature": "dropped"}),
    "redacted_thinking": (_redacted_thinking, {"type": "part", "data": "dropped"}),
    "tool_use": _CALL,
    "server_tool_use": _CALL,
    "mcp_tool_use": _CALL,
    "tool_result": (
        _result,
        dict.fromkeys(("type", "tool_use_id", "content", "is_error"), "part"),
    ),
    "image": _MEDIA,
    "document": _MEDIA,
}
"""What each type of block becomes, and where its members go."""
