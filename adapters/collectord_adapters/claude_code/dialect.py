"""
The dialect ``claude-code/1``: a line that Claude Code wrote, as a record.

Messages and attachments are taken apart: content into parts, what the runtime says
beside it into role fields, the trailing part, ``dropped`` or, where no list names it,
an ``unknown`` part. Everything else is kept whole as one ``data`` part. Values travel as
slices of the line and are never parsed and written again.

Source: docs/dialects/claude-code.md; docs/format.md, "Bytes".
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Raw

from collectord.adapter import Account, Context, Converted, Identity, Source, verbatim
from collectord.sessiondata import Dropped, Kind, Part, State
from collectord.sessiondata.rawjson import (
    MAX_RECORD_DEPTH,
    NotStrict,
    compact,
    depth,
    object_of,
    replace_lone_surrogates,
)
from collectord.sources import BOM, RawRecord
from collectord_adapters.claude_code.draft import Draft, Ledger, unknown_part
from collectord_adapters.claude_code.members import HEADER_SESSION
from collectord_adapters.claude_code.message import RECORD, is_apart, take_apart
from collectord_adapters.claude_code.roles import read_roles
from collectord_adapters.claude_code.usual import usual_line
from collectord_adapters.claude_code.values import (
    NotCompact,
    check_compact,
    may_nest,
    parsed,
    text_of,
)

__all__ = ["ClaudeCodeDialect"]

_TOO_DEEP: Final = f"the record is nested deeper than {MAX_RECORD_DEPTH} levels"
_MESSAGE: Final = b'"message":{"'
_ATTACHMENT: Final = b'"attachment":{"'
"""One of them stands in every usual line; in others the quick way need not be tried."""
_NAME_BYTES: Final = 200
_WHY_SURROGATE: Final = "half of a character: no UTF-8 text can hold it, so U+FFFD stands there"


class ClaudeCodeDialect:
    """How the records of Claude Code are read."""

    name = "claude-code/1"

    def identify(self, source: Source, raws: Sequence[RawRecord]) -> Identity | None:
        """Return the session that the first of *raws* that names one names."""
        for raw in raws:
            if raw.data is None:
                continue
            try:
                found, _ = object_of(compact(raw.data.removeprefix(BOM)))
            except NotStrict:
                continue
            for key in sorted(HEADER_SESSION):
                session = text_of(found, key)
                if _can_be_a_name(session):
                    return Identity(session, source.stream, source.batch)
        return None

    def convert(
        self, raw: RawRecord, source: Source, context: Context, *, audit: bool = False
    ) -> Converted:
        """Return *raw* as a record; what cannot be described is in an ``unknown`` part."""
        if source.kind == Kind.WORKFLOW_SCRIPT:
            reason = "the source is a program, not data"
            program = verbatim(raw, reason, context, audit=audit)
            program.record.batch = source.batch
            return program
        data = raw.data
        assert data is not None
        view = data.removeprefix(BOM) if raw.off == 0 else data
        if not view.isascii():
            try:
                view.decode()
            except UnicodeDecodeError:
                return verbatim(raw, "the record is not valid UTF-8", context, audit=audit)
        converted: Converted | None
        is_usual = _MESSAGE in view or _ATTACHMENT in view
        if is_usual and source.kind == Kind.TRANSCRIPT and not audit:
            converted = usual_line(view, raw, source, context)
            if converted is not None:
                return converted
        lone_bytes = 0
        try:
            converted = _made(view, raw, source, context, audit)
        except NotStrict:
            view, lone_bytes = replace_lone_surrogates(view)
            try:
                converted = _made(view, raw, source, context, audit)
            except NotStrict:
                return verbatim(raw, _why_not(view), context, audit=audit)
        if converted is None:
            return verbatim(raw, _TOO_DEEP, context, audit=audit)
        if lone_bytes:
            converted.record.dropped.append(Dropped("lone surrogate", lone_bytes, _WHY_SURROGATE))
        return converted


def _made(
    view: bytes, raw: RawRecord, source: Source, context: Context, audit: bool
) -> Converted | None:
    """
    Return the record that *view* is; None when it is nested too deeply.

    The runtime writes compact JSON, so the bytes are first taken as they are; where white
    space turns up, and for an audit, their compact form is taken.

    Raises:
        NotStrict: It is no JSON object.
    """
    if not audit:
        try:
            return _taken(Raw(view), raw, source, context, None)
        except NotCompact:
            pass
    return _taken(compact(view), raw, source, context, Ledger() if audit else None)


def _taken(
    whole: Raw, raw: RawRecord, source: Source, context: Context, ledger: Ledger | None
) -> Converted | None:
    draft = Draft(raw, source, context, ledger)
    found, shape = RECORD.open(whole, draft)
    draft.type = text_of(found, "type")
    if source.kind == Kind.TRANSCRIPT and is_apart(draft, found):
        context_after = take_apart(draft, whole, found, shape)
        if draft.is_suspect or draft.unknown:
            check_compact(whole)
            if _is_too_deep(whole):
                return None
        account = ledger.account(raw.size) if ledger else None
        return Converted(draft.record, context_after, account, len(draft.unknown))
    reason = parsed(whole)[1]
    if reason and _is_too_deep(whole):
        return None
    read_roles(draft, found)
    draft.parts.append(_whole_part(whole, reason))
    account = _whole_account(raw, whole, reason) if ledger else None
    return Converted(draft.record, context, account)


def _why_not(view: bytes) -> str:
    """Return why *view* is not taken apart, the same however deep the caller stands."""
    if _is_too_deep(view):
        return _TOO_DEEP
    try:
        compact(view)
    except NotStrict:
        return "the record is not valid JSON"
    return "the record is not a JSON object"


def _whole_part(whole: Raw, reason: str) -> Part:
    if reason:
        return unknown_part(whole, reason)
    return Part(k="data", data=whole, state=State.AVAILABLE, bytes=len(whole))


def _whole_account(raw: RawRecord, whole: Raw, reason: str) -> Account:
    syntax = raw.size - len(whole)
    if reason:
        return Account(unknown=len(whole), syntax=syntax)
    return Account(part=len(whole), syntax=syntax)


def _is_too_deep(view: bytes | Raw) -> bool:
    data = bytes(view)
    return may_nest(data, MAX_RECORD_DEPTH) and depth(data) > MAX_RECORD_DEPTH


def _can_be_a_name(session: str) -> bool:
    """Whether *session* may name a folder; landing escapes what a file system refuses."""
    return 0 < len(session.encode()) <= _NAME_BYTES and session not in (".", "..")
