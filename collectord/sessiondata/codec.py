"""
Lines of a `.sd` file to values, and back.

Encoding writes the keys in the model's order, compact, without empty fields. Decoding
accepts any key order and keys that it does not know.
"""

from typing import Final

import msgspec

from collectord.errors import SessionDataError
from collectord.sessiondata.model import SCHEMA, End, Header, Record

__all__ = ["decode_end", "decode_header", "decode_record", "encode", "encode_onto"]

_encoder: Final = msgspec.json.Encoder()
_header: Final = msgspec.json.Decoder(Header)
_record: Final = msgspec.json.Decoder(Record)
_end: Final = msgspec.json.Decoder(End)

_NEWLINE: Final = 10
_NEEDED: Final = ("kind", "session", "src", "adapter", "dialect")


def encode(line: Header | Record | End) -> bytes:
    """Return the line for *line*, with its ``\\n``."""
    return _encoder.encode(line) + b"\n"


def encode_onto(lines: bytearray, record: Record) -> None:
    """Append the line for *record*, with its ``\\n``, to *lines*: no copy of it is made."""
    _encoder.encode_into(record, lines, -1)
    lines.append(_NEWLINE)


def decode_header(line: bytes, *, where: str = "") -> Header:
    """
    Return the header that *line* is.

    Raises:
        SessionDataError: It is none: not JSON, ``h`` is not 1, ``schema`` is not ``sd/1``, or
            ``kind``, ``session``, ``src``, ``adapter`` or ``dialect`` is missing.
    """
    try:
        header = _header.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SessionDataError(f"not a header: {error}", where=where, line=1) from None
    if header.h != 1:
        raise SessionDataError(f"`h` is {_shown(header.h)}, wanted 1", where=where, line=1)
    if header.schema != SCHEMA:
        raise SessionDataError(
            f"`schema` is {header.schema!r}, wanted {SCHEMA!r}", where=where, line=1
        )
    for name in _NEEDED:
        if not getattr(header, name):
            raise SessionDataError(f"the header has no `{name}`", where=where, line=1)
    return header


def decode_record(line: bytes, *, where: str = "", number: int = 0) -> Record:
    """
    Return the record that *line* is; *number* is the line's number for the message.

    Raises:
        SessionDataError: Not JSON, or a field has another type than the format's.
    """
    try:
        return _record.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SessionDataError(f"not a record: {error}", where=where, line=number) from None


def decode_end(line: bytes) -> End | None:
    """Return the closing line that *line* is, or None when it is something else."""
    if b'"end"' not in line or b'"ord"' in line:
        return None
    try:
        end = _end.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return end if end.t == "end" else None


def _shown(value: object) -> str:
    return "absent" if value is msgspec.UNSET else repr(value)
