"""Lines of the runtime, as a reader hands them on."""

import hashlib
import json
from pathlib import Path
from typing import Any

from collectord.adapter import Reader, Source
from collectord.sessiondata import Kind
from collectord.sources import RawRecord
from collectord_adapters.claude_code import ADAPTER

SESSION = "00000000-0000-4000-8000-000000000001"

Landed = dict[str, Any]


def compact(value: object) -> bytes:
    """Return *value* as the runtime writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def raw_of(line: bytes, ord_: int = 1, off: int = 1) -> RawRecord:
    """Return *line* as a reader hands it on."""
    return RawRecord(ord_, off, len(line), hashlib.sha256(line).hexdigest()[:12], line)


def source_of(kind: Kind = Kind.TRANSCRIPT, stream: str = "main", batch: str = "") -> Source:
    """Return a source of the session that all tests use."""
    lines = kind in (Kind.TRANSCRIPT, Kind.JOURNAL)
    reader = Reader.LINES if lines else Reader.DOCUMENT
    return Source(ADAPTER.name, "s/x", Path("/r/s/x"), kind, reader, SESSION, stream, batch)
