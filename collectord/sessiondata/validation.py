"""
Whether a header or a record is valid sd/1, in one-line errors.

Readers are lenient (they keep what they do not know); this is strict, for writers,
``collectord verify`` and tests. ``schema.json`` beside this module says the same as a
JSON Schema, and a test holds the two together.
"""

import re
from typing import Final

import orjson
from msgspec import UNSET

from collectord.errors import SessionDataError
from collectord.sessiondata.model import (
    FLAGS,
    SCHEMA,
    TRIGGERS,
    From,
    Header,
    Kind,
    Part,
    PartKind,
    Record,
    State,
    Usage,
)
from collectord.sessiondata.rawjson import MAX_PART_DEPTH, NotStrict, compact, depth

__all__ = ["check_header", "check_record", "header_problems", "record_problems"]

_KINDS: Final = frozenset(Kind)
_PART_KINDS: Final = frozenset(PartKind)
_STATES: Final = frozenset(State)
_FROM: Final = frozenset(From)
_SHA: Final = re.compile(r"[0-9a-f]{12}(?:[0-9a-f]{52})?")
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z")
_ORDER: Final = {flag: place for place, flag in enumerate(FLAGS)}
_ONLY: Final = {
    "id": {"call"},
    "of": {"result"},
    "name": {"call"},
    "media": {"media"},
    "failed": {"result"},
    "encoding": {"unknown"},
}
"""Which kinds of part a field belongs to."""


def check_header(header: Header, *, where: str = "") -> None:
    """Raise `SessionDataError` for the first thing that is wrong with *header*."""
    for problem in header_problems(header):
        raise SessionDataError(problem, where=where, line=1)


def check_record(record: Record, *, where: str = "", line: int = 0) -> None:
    """Raise `SessionDataError` for the first thing that is wrong with *record*."""
    for problem in record_problems(record):
        raise SessionDataError(problem, where=where, line=line)


def header_problems(header: Header) -> list[str]:
    """Return what is wrong with *header*, a sentence each."""
    found = []
    if header.h != 1:
        found.append("`h` is not 1")
    if header.schema != SCHEMA:
        found.append(f"`schema` is {header.schema!r}, wanted {SCHEMA!r}")
    if not isinstance(header.seq, int) or header.seq < 1:
        found.append("`seq` is not a number from 1")
    if not _TIME.fullmatch(header.at):
        found.append(f"`at` is {header.at!r}, wanted RFC 3339 in UTC")
    if header.kind not in _KINDS:
        found.append(f"`kind` is {header.kind!r}, wanted one of {', '.join(sorted(_KINDS))}")
    found += [
        f"the header has no `{name}`"
        for name in ("adapter", "dialect", "src", "session")
        if not getattr(header, name)
    ]
    if header.src.startswith("/") or "\\" in header.src or ".." in header.src.split("/"):
        found.append(f"`src` is {header.src!r}, wanted a path below the adapter's root")
    return found


def record_problems(record: Record) -> list[str]:
    """Return what is wrong with *record*, a sentence each."""
    found = []
    if not isinstance(record.ord, int) or record.ord < 0:
        found.append("`ord` is not a number")
    if record.off is not UNSET and record.off < 0:
        found.append("`off` is below 0")
    if not isinstance(record.bytes, int) or record.bytes < 0:
        found.append("`bytes` is not a size")
    if not _SHA.fullmatch(record.sha):
        found.append(f"`sha` is {record.sha!r}, wanted 12 or 64 lower-case hex digits")
    if record.from_ not in _FROM:
        found.append(f"`from` is {record.from_!r}, wanted one of {', '.join(sorted(_FROM))}")
    if record.trigger and record.trigger not in TRIGGERS:
        found.append(f"`trigger` is {record.trigger!r}, wanted one of {', '.join(TRIGGERS)}")
    unknown = [flag for flag in record.flags if flag not in _ORDER]
    if unknown:
        found.append(f"`flags` holds {unknown[0]!r}, which is not one of the format's")
    elif record.flags != sorted(set(record.flags), key=_ORDER.__getitem__):
        found.append("`flags` are not in the format's order, each once")
    if record.usage == Usage():
        found.append("`usage` is empty")
    if not record.parts:
        found.append("the record has no `parts`")
    for place, part in enumerate(record.parts):
        found += [f"part {place}: {problem}" for problem in _part_problems(part)]
    found += [
        f"dropped {place}: `what`, `why` and a size are needed"
        for place, entry in enumerate(record.dropped)
        if not entry.what or not entry.why or entry.bytes < 0
    ]
    return found


def _part_problems(part: Part) -> list[str]:
    found = []
    if part.k not in _PART_KINDS:
        found.append(f"`k` is {part.k!r}, wanted one of {', '.join(sorted(_PART_KINDS))}")
    if part.state not in _STATES:
        found.append(f"`state` is {part.state!r}, wanted one of {', '.join(sorted(_STATES))}")
    if not isinstance(part.bytes, int) or part.bytes < 0:
        found.append("`bytes` is not a size")
    for name, kinds in _ONLY.items():
        if getattr(part, name) not in ("", None) and part.k not in kinds:
            found.append(f"`{name}` on a {part.k} part")
    if part.encoding not in ("", "base64"):
        found.append(f"`encoding` is {part.encoding!r}, wanted 'base64'")
    if part.data is not UNSET:
        data = bytes(part.data)
        if part.k == PartKind.UNKNOWN and data[:1] != b'"':
            found.append("`data` of an unknown part is not a string")
        found += _data_problems(data)
    return found


def _data_problems(data: bytes) -> list[str]:
    try:
        orjson.loads(data)
        if bytes(compact(data)) != data:
            return ["`data` is not compact"]
    except (orjson.JSONDecodeError, NotStrict) as error:
        return [f"`data` is not strict JSON: {error}"]
    if data.count(b"[") + data.count(b"{") > MAX_PART_DEPTH and depth(data) > MAX_PART_DEPTH:
        return [f"`data` is nested deeper than {MAX_PART_DEPTH} levels"]
    return []
