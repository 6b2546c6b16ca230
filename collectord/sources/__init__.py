"""
Sources: files that agents write, read from a cursor, never changed, locked or touched.

Public: an adapter says which reader a source needs, and never reads files itself.
"""

from collectord.sources.document import STABLE_S, Version, read_document
from collectord.sources.identity import (
    Anchor,
    Stat,
    first_broken,
    open_source,
    pick_anchors,
    sha256_of_range,
)
from collectord.sources.lines import BOM, READ_BUDGET_BYTES, Tail, read_lines
from collectord.sources.record import SHA_DIGITS, Cursor, RawRecord

__all__ = [
    "BOM",
    "READ_BUDGET_BYTES",
    "SHA_DIGITS",
    "STABLE_S",
    "Anchor",
    "Cursor",
    "RawRecord",
    "Stat",
    "Tail",
    "Version",
    "first_broken",
    "open_source",
    "pick_anchors",
    "read_document",
    "read_lines",
    "sha256_of_range",
]
