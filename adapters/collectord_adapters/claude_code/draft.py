"""
A record while it is being made, and where each of its bytes went.

Every member ends in one of a few places; the code that decides says which, and when an
audit asks, the ledger adds the member's size there. What is in no member (commas,
brackets, white space, a BOM) is syntax, so the seven sums always add up to the source's
size, and a test counts the punctuation by itself.

Source: docs/format.md, "Nothing disappears silently".
"""

from typing import Final

from msgspec import Raw

from collectord.adapter import Account, Context, Source
from collectord.sessiondata import Part, Record, State
from collectord.sessiondata.rawjson import pairs, quote
from collectord.sources import RawRecord
from collectord_adapters.claude_code.values import NULL, built_object, opened, parsed, refused

__all__ = [
    "Draft",
    "Ledger",
    "unknown_members",
    "unknown_part",
]

_NAMED: Final = 6
"""How many unknown members a part's text names before it counts the rest."""


class Ledger:
    """The sums of one record."""

    __slots__ = ("sums",)

    def __init__(self) -> None:
        self.sums = {"part": 0, "role": 0, "header": 0, "trailing": 0, "dropped": 0, "unknown": 0}

    def keys_of(self, raw: Raw) -> dict[str, int]:
        """Return the bytes of each key of the object *raw* as written, with its colon."""
        return {member.key: member.size - len(member.value) for member in pairs(raw)}

    def account(self, size: int) -> Account:
        """Return the sums of a record of *size* bytes."""
        return Account(**self.sums, syntax=size - sum(self.sums.values()))


class Draft:
    """What has been found so far of one record."""

    # What few records change stands on the class: setting it on each costs more.
    type = ""
    prompt = ""
    """The message's content, when it is a plain string."""
    attachment: dict[str, Raw] | None = None
    is_changed = False
    """Whether the environment differs from what the file has stated before."""
    is_suspect = False
    """Something was not taken apart, so the record may be nested too deeply."""

    def __init__(
        self,
        raw: RawRecord,
        source: Source,
        context: Context,
        ledger: Ledger | None = None,
    ) -> None:
        self.parts: list[Part] = []
        self.record = Record(raw.ord, raw.off, raw.sha, raw.size, parts=self.parts)
        self.record.batch = source.batch
        self.source = source
        self.context = context
        self.ledger = ledger
        self.results: list[Part] = []
        """Those of the parts that are results."""
        self.counts: dict[str, int | float] = {}
        """What the provider reported, by the field of `Usage`."""
        self.stated: list[tuple[str, Raw]] = []
        """The environment that the record states."""
        self.kept: list[tuple[str, Raw]] = []
        self.unknown: list[tuple[str, Raw]] = []

    def open(self, raw: Raw, path: str) -> dict[str, Raw]:
        """
        Return the members of the object *raw*; those that a later one hides become unknown.

        Raises:
            NotStrict: It is no object.
            NotCompact: It has white space between its tokens.
        """
        found, hidden = opened(raw)
        for member in hidden:
            self.unknown.append((path + member.key, member.value))
            self.add("unknown", member.size)
        return found

    def keep(self, path: str, value: Raw) -> str:
        """Keep a member in the trailing part, unless it is null; return its place."""
        if value == NULL:
            return "trailing"
        view = bytes(value)
        if view[:1] != b'"' and refused(view):
            return self.leave(path, value)
        self.kept.append((path, value))
        return "trailing"

    def leave(self, path: str, value: Raw) -> str:
        """Note a member that the dialect does not describe; return its place."""
        self.unknown.append((path, value))
        return "unknown"

    def add(self, place: str, size: int) -> None:
        """Account *size* bytes to *place*."""
        if self.ledger is not None:
            self.ledger.sums[place] += size

    def put(self, raw: Raw, reason: str) -> None:
        """Append content that cannot be described as an unknown part."""
        self.parts.append(unknown_part(raw, reason))
        self.is_suspect = True

    def put_data(self, raw: Raw) -> str:
        """Append *raw* as a data part, or as an unknown one where that is not strict JSON."""
        reason = parsed(raw)[1]
        if reason:
            self.put(raw, reason)
            return "unknown"
        self.parts.append(Part(k="data", data=raw, state=State.AVAILABLE, bytes=len(raw)))
        return "part"


def unknown_part(raw: Raw, reason: str) -> Part:
    """Return *raw*, which is UTF-8, as an unknown part: its bytes as one JSON string."""
    data = bytes(raw)
    return Part(
        k="unknown",
        text=reason,
        data=quote(data.decode()),
        state=State.AVAILABLE,
        bytes=len(data),
    )


def unknown_members(members: list[tuple[str, Raw]]) -> Part:
    """Return the part that holds the members which no list names."""
    names = [path if len(path) <= 60 else path[:59] + "…" for path, _ in members[:_NAMED]]
    rest = len(members) - len(names)
    more = f" and {rest} more" if rest else ""
    reason = f"members this dialect does not describe: {', '.join(names)}{more}"
    return unknown_part(built_object(members), reason)
