"""
A source record kept whole, byte for byte, in one ``unknown`` part.

For what no dialect can take apart: not JSON, not UTF-8, nested too deeply, a program.
"""

import base64

from collectord.adapter.contract import Account, Context, Converted
from collectord.sessiondata import From, Part, Record, State
from collectord.sessiondata.rawjson import quote
from collectord.sources import RawRecord

__all__ = ["verbatim"]


def verbatim(
    raw: RawRecord, reason: str, context: Context, *, from_: str = From.RUNTIME, audit: bool = False
) -> Converted:
    """Return *raw* as one ``unknown`` part; *reason* is one short sentence and becomes its text."""
    data = raw.data
    assert data is not None
    try:
        text, encoding = data.decode(), ""
    except UnicodeDecodeError:
        text, encoding = base64.b64encode(data).decode("ascii"), "base64"
    part = Part(
        k="unknown",
        text=reason,
        data=quote(text),
        encoding=encoding,
        state=State.AVAILABLE,
        bytes=len(data),
    )
    record = Record(
        ord=raw.ord, off=raw.off, sha=raw.sha, bytes=raw.size, from_=from_, parts=[part]
    )
    account = Account(unknown=len(data)) if audit else None
    return Converted(record, context, account)
