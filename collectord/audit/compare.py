"""
One source, read once from its first byte to its last, against what landed of it.

Each record is looked up by its number and digest, converted again in the context of the
file that it landed in, and compared byte for byte with the landed line. Memory is
bounded by one slice of the source (a long record is compared in pieces) and the places
of its records.

Source: docs/format.md, "Sources" and "Nothing disappears silently".
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from collectord.adapter import (
    NO_CONTEXT,
    Account,
    Adapter,
    Context,
    Converted,
    Identity,
    Reader,
    Source,
    verbatim,
)
from collectord.audit.finding import AuditKind
from collectord.audit.landed import Cut, Index, Place, is_same
from collectord.audit.sums import Ords, SourceAudit
from collectord.pipeline.convert import long_line
from collectord.sessiondata import Record, encode
from collectord.sources import (
    SHA_DIGITS,
    Cursor,
    RawRecord,
    Tail,
    read_document,
    read_lines,
    sha256_of_range,
)

__all__ = ["Comparison"]

_CURRENT: Final = "the present version of the source"
_LONG: Final = Record()
"""Stands for the record of a long line, which is compared in pieces."""


@dataclass(slots=True)
class _Reading:
    """How far one landed file has been followed, and what was stated in it by then."""

    next_start: int
    context: Context = field(default_factory=lambda: NO_CONTEXT)
    is_whole: bool = True
    """Whether each of its records so far was converted again, so that the context is right."""


class Comparison:
    """The work on one source; `run` does it."""

    def __init__(
        self,
        source: Source,
        adapter: Adapter,
        fd: int,
        cuts: list[Cut],
        audit: SourceAudit,
        convert_bytes: int,
    ) -> None:
        self._source = source
        self._adapter = adapter
        self._fd = fd
        self._audit = audit
        self._convert_bytes = convert_bytes
        self._index = Index(cuts, audit, versions=source.reader is Reader.DOCUMENT)
        self._readings: dict[int, _Reading] = {}
        self._context: Context = NO_CONTEXT
        """What the records so far have stated, for those that no landed file gives one for."""
        self._behind = Ords()
        self._reverted = Ords()
        self._moved = Ords()
        self._unproven = Ords()
        self._versions: dict[str, Ords] = {}
        self._unaccounted = 0

    def run(self) -> None:
        """
        Read the source and fill the audit.

        Raises:
            OSError: The source or a landed file cannot be read.
        """
        try:
            if self._source.reader is Reader.DOCUMENT:
                self._document()
            else:
                self._lines()
        finally:
            self._index.close()
        self._conclude()

    def _lines(self) -> None:
        cursor = Cursor()
        more = True
        while more:
            tail = read_lines(self._fd, cursor, convert_bytes=self._convert_bytes)
            if tail.pending_bytes and self._has_landed_unended(tail):
                # Its line has no end, and someone said that the source is finished.
                self._take(tail.raws, cursor, tail.cursor)
                cursor = tail.cursor
                tail = read_lines(self._fd, cursor, convert_bytes=self._convert_bytes, final=True)
            self._take(tail.raws, cursor, tail.cursor)
            cursor, more = tail.cursor, tail.more
            self._audit.sums.pending = tail.pending_bytes
        size = os.fstat(self._fd).st_size
        end = cursor.off + self._audit.sums.pending
        # What was appended meanwhile is the next audit's.
        self._audit.sums.size = min(size, end)
        self._mind_the_rest(cursor)

    def _has_landed_unended(self, tail: Tail) -> bool:
        ord_, off = tail.cursor.ord + 1, tail.cursor.off
        size = os.fstat(self._fd).st_size - off
        return any(
            place.anchor.off == off and place.anchor.size == size
            for place in self._index.places(ord_)
        )

    def _take(self, raws: Iterable[RawRecord], start: Cursor, stop: Cursor) -> None:
        syntax = stop.off - start.off
        for raw in raws:
            syntax -= raw.size
            self._record(raw)
        self._add(Account(syntax=syntax))

    def _record(self, raw: RawRecord) -> None:
        audit = self._audit
        audit.records += 1
        found = self._find(raw)
        self._index.visited(raw.ord)
        if found is None:
            converted, _ = self._converted(raw, self._context)
            self._context = converted.context
            self._add_record(raw, converted.account)
            return
        audit.landed += 1
        place, newest = found
        if not newest:
            self._reverted.add(raw.ord)
        anchor = place.anchor
        cut = self._index.cuts[place.cut]
        is_there = True
        if anchor.off != raw.off and self._index.is_rewritten:
            self._moved.add(raw.ord)
        elif (anchor.off, anchor.size) != (raw.off, raw.size) and is_same(anchor.sha, raw.sha):
            text = (
                f"record {raw.ord} says byte {anchor.off}, {anchor.size} bytes;"
                f" in the source it is at byte {raw.off}, {raw.size} bytes"
            )
            audit.find(AuditKind.PLACE, text, ord=raw.ord, path=cut.path)
            is_there = False
        self._compare(raw, place, cut, is_there)

    def _find(self, raw: RawRecord) -> tuple[Place, bool] | None:
        """Return (where *raw* landed, whether it is the newest of its number); None: nowhere."""
        newest: Place | None = None
        for place in self._index.places(raw.ord):
            if is_same(place.anchor.sha, raw.sha) or self._had_carriage_return(raw, place):
                return place, newest is None
            newest = newest or place
        if newest is not None:
            text = (
                f"record {raw.ord} landed as {newest.anchor.sha[:SHA_DIGITS]},"
                f" but the source has {raw.sha} there"
            )
            path = self._index.cuts[newest.cut].path
            self._audit.find(AuditKind.MISMATCH, text, ord=raw.ord, path=path)
        elif raw.ord < self._index.highest:
            text = f"record {raw.ord}, {raw.size} bytes from byte {raw.off}, is in no landed file"
            self._audit.find(AuditKind.MISSING, text, ord=raw.ord)
        else:
            self._behind.add(raw.ord)
        return None

    def _had_carriage_return(self, raw: RawRecord, place: Place) -> bool:
        """Whether it landed unfinished, with the ``\\r`` that a newline followed later."""
        anchor = place.anchor
        if anchor.off != raw.off or anchor.size != raw.size + 1:
            return False
        return is_same(sha256_of_range(self._fd, anchor.off, anchor.size), anchor.sha)

    def _compare(self, raw: RawRecord, place: Place, cut: Cut, is_there: bool) -> None:
        """Convert *raw* in the context of its file, and compare it with its line."""
        header = cut.header
        dialect = self._adapter.dialect
        version = f"{header.adapter}, {header.dialect}"
        if version != f"{self._adapter.name}/{self._adapter.version}, {dialect.name}":
            self._versions.setdefault(version, Ords()).add(raw.ord)
            converted, _ = self._converted(raw, self._context)
            self._context = converted.context
            self._add_record(raw, converted.account)
            return
        reading = self._readings.get(place.cut)
        if reading is None:
            reading = _Reading(self._index.first_start[place.cut])
            self._readings[place.cut] = reading
        reading.is_whole = reading.is_whole and place.start == reading.next_start
        # The record as it was when it landed: with another offset, or with its `\r`.
        anchor = place.anchor
        landed = raw._replace(off=anchor.off)
        if not is_same(anchor.sha, raw.sha) and raw.data is not None:
            whole = os.pread(self._fd, anchor.size, raw.off)
            landed = raw._replace(size=anchor.size, data=whole, sha=anchor.sha[:SHA_DIGITS])
        identity = Identity(header.session, header.stream, header.batch)
        source = self._source.identified(identity)
        converted, pieces = self._converted(landed, reading.context, source)
        self._add_record(raw, converted.account, landed.size - raw.size)
        self._context = reading.context = converted.context
        same, reading.next_start = self._index.compare(place, pieces)
        if not is_there:
            return
        if same:
            self._audit.compared += 1
        elif reading.is_whole:
            self._audit.compared += 1
            text = f"record {raw.ord} is converted otherwise today than it landed"
            self._audit.find(AuditKind.DIFFERS, text, ord=raw.ord, path=cut.path)
        else:
            self._unproven.add(raw.ord)

    def _converted(
        self, raw: RawRecord, context: Context, source: Source | None = None
    ) -> tuple[Converted, Iterable[bytes]]:
        """Return *raw* converted as it lands, with its account, and the pieces of its line."""
        dialect = self._adapter.dialect
        if raw.data is None:
            account = Account(unknown=raw.size)
            pieces = long_line(self._fd, raw, self._convert_bytes)
            return Converted(_LONG, context, account), pieces
        try:
            converted = dialect.convert(raw, source or self._source, context, audit=True)
            line = encode(converted.record)
        except Exception as error:  # noqa: BLE001 - the plug-in boundary, as where it lands
            reason = f"{dialect.name} failed on it ({type(error).__name__})"
            converted = verbatim(raw, reason, context, audit=True)
            line = encode(converted.record)
        return converted, (line,)

    def _add_record(self, raw: RawRecord, account: Account | None, more: int = 0) -> None:
        """Take a record's sums in; *more* bytes of them are its line ending's."""
        if account is None:
            self._unaccounted += 1
            return
        if account.total != raw.size + more:
            text = f"the sums of record {raw.ord} are {account.total} bytes, and it has {raw.size}"
            self._audit.find(AuditKind.ACCOUNT, text, ord=raw.ord)
        self._add(account._replace(syntax=account.syntax - more))

    def _add(self, account: Account) -> None:
        self._audit.sums.account = self._audit.sums.account.plus(account)

    def _mind_the_rest(self, cursor: Cursor) -> None:
        """Say what landed and was not met in the source."""
        shorter = Ords()
        for ord_ in self._index.left:
            if ord_ > cursor.ord:
                shorter.add(ord_)
                continue
            place = next(self._index.places(ord_))
            text = f"record {ord_} landed, but line {ord_} of the source is blank"
            path = self._index.cuts[place.cut].path
            self._audit.find(AuditKind.MISMATCH, text, ord=ord_, path=path)
        self._audit.note(AuditKind.SHORTER, shorter, "the source no longer reaches them")

    def _document(self) -> None:
        version = read_document(self._fd, convert_bytes=self._convert_bytes, final=True)
        size = self._audit.sums.size = os.fstat(self._fd).st_size
        raw = version.raw
        places = list(self._index.places(1))
        if raw is None:
            self._add(Account(syntax=size))
            if places:
                self._audit.note(AuditKind.SHORTER, Ords(1, 1, 1), "the source is empty now")
            return
        self._audit.records = 1
        self._add(Account(syntax=size - raw.size))
        place = places[0] if places else None
        if place is not None and is_same(place.anchor.sha, raw.sha):
            self._audit.landed = 1
            is_there = (place.anchor.off, place.anchor.size) == (0, raw.size)
            cut = self._index.cuts[place.cut]
            if not is_there:
                text = f"the record says {place.anchor.size} bytes from byte {place.anchor.off}"
                self._audit.find(AuditKind.PLACE, text, ord=1, path=cut.path)
            # A document's files hold one version each.
            self._readings[place.cut] = _Reading(place.start)
            self._compare(raw, place, cut, is_there)
            return
        converted, _ = self._converted(raw, NO_CONTEXT)
        self._add_record(raw, converted.account)
        if place is not None and self._landed_after_last_change(self._index.cuts[place.cut]):
            text = f"it landed as {place.anchor.sha[:SHA_DIGITS]}, but {_CURRENT} is {raw.sha}"
            path = self._index.cuts[place.cut].path
            self._audit.find(AuditKind.MISMATCH, text, ord=1, path=path)
        else:
            self._behind.add(1)

    def _landed_after_last_change(self, cut: Cut) -> bool:
        """Whether the source has not been changed since *cut* was collected from it."""
        try:
            at = datetime.fromisoformat(cut.header.at).timestamp()
        except ValueError:
            return False
        return os.fstat(self._fd).st_ctime < at

    def _conclude(self) -> None:
        audit = self._audit
        for version, ords in self._versions.items():
            audit.note(
                AuditKind.VERSION, ords, f"converted otherwise by {version}, so not compared"
            )
        audit.note(AuditKind.BEHIND, self._behind, "not landed yet")
        audit.note(AuditKind.REVERTED, self._reverted, "changed, and changed back: landed before")
        audit.note(AuditKind.MOVED, self._moved, "stand elsewhere since the source was rewritten")
        audit.note(AuditKind.UNPROVEN, self._unproven, "what was stated before them is gone")
        if self._unaccounted:
            text = f"{self._adapter.name} gives no account of {self._unaccounted:,} records"
            audit.find(AuditKind.ACCOUNT, text)
        elif audit.sums.difference:
            text = f"the sums do not add up: {audit.sums.difference:,} bytes are in none of them"
            audit.find(AuditKind.ACCOUNT, text)
