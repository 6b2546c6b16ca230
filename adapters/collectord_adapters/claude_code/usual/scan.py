"""
The one scan: which members a usual line is taken apart into, and how deep.

What is opened here (``message``, its ``content``, the blocks, a call's ``input``, an
``attachment``, a ``toolUseResult``) comes as a dict or list, ids and the like decoded, everything else as a
slice, all in the line's order. Members that no list names are skipped in silence, which
the size then shows.

The names stand in the order in which the runtime writes them: the decoder looks for each
next to the last one.
"""

from typing import TYPE_CHECKING, Any, Final, TypedDict

import msgspec
from msgspec import Raw

from collectord_adapters.claude_code.members import (
    BLOCK_KEPT,
    ENVIRONMENT,
    FLAG_MEMBERS,
    HEADER_SESSION,
    HEADER_STREAM,
    KEPT,
    MESSAGE_KEPT,
    NO_ROLE_IN_A_MESSAGE,
)

__all__ = ["LINE_TEXTS", "Block", "Line", "Message", "scan"]

LINE_TEXTS: Final = frozenset({"parentUuid", "promptId", "uuid", "timestamp"})
"""Members of a line that come decoded; a null there is not usual."""

_SPEAKS: Final = frozenset({"origin", "promptSource"})
"""Members of `KEPT` that are also read for the trigger: a line with one is not usual."""

_AHEAD: Final = (
    "parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "slug",
    "agentId", "type", "promptId",
)  # fmt: skip
_BEHIND: Final = ("requestId", "uuid", "timestamp", "permissionMode")
_LAST: Final = ("sourceToolAssistantUUID",)
_OTHERS: Final = sorted(
    (
        ENVIRONMENT
        | HEADER_SESSION
        | HEADER_STREAM
        | FLAG_MEMBERS
        | (KEPT - _SPEAKS)
        | NO_ROLE_IN_A_MESSAGE
    ).difference(_AHEAD, _BEHIND, _LAST)
)


def _slices(*names: str) -> dict[str, type]:
    return {name: str if name in LINE_TEXTS else Raw for name in names}


if TYPE_CHECKING:
    Block = dict[str, Any]
    Message = dict[str, Any]
    Line = dict[str, Any]
else:
    Block = TypedDict(
        "Block",
        {
            **dict.fromkeys(("type", "id", "name"), str),
            "input": dict[str, Raw],
            **_slices("text", "thinking"),
            **dict.fromkeys(("signature", "tool_use_id"), str),
            **_slices("content"),
            "is_error": bool,
            **_slices(*sorted(BLOCK_KEPT)),
        },
        total=False,
    )
    Message = TypedDict(
        "Message",
        {
            **_slices("model"),
            "id": str,
            **_slices("type", "role"),
            "content": list[Block] | str,
            "stop_reason": str | None,
            **_slices("stop_sequence", "usage"),
            **_slices(*sorted(MESSAGE_KEPT - {"stop_sequence"})),
        },
        total=False,
    )
    Line = TypedDict(
        "Line",
        {
            **_slices(*_AHEAD),
            "message": Message,
            "attachment": dict[str, Raw],
            **_slices(*_BEHIND),
            "toolUseResult": dict[str, Raw] | str,
            **_slices(*_LAST, *_OTHERS),
        },
        total=False,
    )

_decoder: Final[msgspec.json.Decoder[Line]] = msgspec.json.Decoder(Line)
scan: Final = _decoder.decode
"""Take a line apart. Raises `msgspec.DecodeError` or `RecursionError` where it is not usual."""
