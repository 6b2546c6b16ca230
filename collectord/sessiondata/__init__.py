"""
Session Data (sd/1): what was in a conversation, in one shape for every agent.

Public, and usable alone: ``from collectord.sessiondata import open_sd`` reads any file
that collectord (or another writer of the format) has landed.
"""

from collectord.sessiondata.codec import (
    decode_end,
    decode_header,
    decode_record,
    encode,
    encode_onto,
)
from collectord.sessiondata.model import (
    FLAGS,
    SCHEMA,
    TRIGGERS,
    Dropped,
    End,
    From,
    Header,
    Kind,
    Part,
    PartKind,
    Record,
    State,
    Usage,
)
from collectord.sessiondata.reader import LONG_LINE_BYTES, Line, Range, SdFile, open_sd
from collectord.sessiondata.schema import json_schema
from collectord.sessiondata.validation import (
    check_header,
    check_record,
    header_problems,
    record_problems,
)
from collectord.sessiondata.writer import SdWriter

__all__ = [
    "FLAGS",
    "LONG_LINE_BYTES",
    "SCHEMA",
    "TRIGGERS",
    "Dropped",
    "End",
    "From",
    "Header",
    "Kind",
    "Line",
    "Part",
    "PartKind",
    "Range",
    "Record",
    "SdFile",
    "SdWriter",
    "State",
    "Usage",
    "check_header",
    "check_record",
    "decode_end",
    "decode_header",
    "decode_record",
    "encode",
    "encode_onto",
    "header_problems",
    "json_schema",
    "open_sd",
    "record_problems",
]
