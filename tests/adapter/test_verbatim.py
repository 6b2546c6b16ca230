"""A record kept whole is all there, whatever its bytes are."""

import base64
import hashlib

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from collectord.adapter import NO_CONTEXT, Account, verbatim
from collectord.sessiondata import decode_record, encode, record_problems
from collectord.sessiondata.rawjson import string
from collectord.sources import RawRecord


@given(
    st.binary(min_size=1, max_size=40)
    | st.text(min_size=1).map(lambda t: t.encode("utf-8", "replace"))
)
def test_its_bytes_come_back_from_the_landed_line(data: bytes) -> None:
    raw = RawRecord(3, 7, len(data), hashlib.sha256(data).hexdigest()[:12], data)
    converted = verbatim(raw, "not JSON", NO_CONTEXT, audit=True)
    assert record_problems(converted.record) == []
    record = decode_record(encode(converted.record))
    (part,) = record.parts
    assert isinstance(part.data, Raw)
    held = string(part.data)
    assert data == (base64.b64decode(held) if part.encoding else held.encode())
    assert (part.k, part.text, part.bytes, part.state) == (
        "unknown",
        "not JSON",
        len(data),
        "available",
    )
    assert (record.ord, record.off, record.bytes, record.sha) == (3, 7, raw.size, raw.sha)
    assert converted.account == Account(unknown=raw.size)
    assert verbatim(raw, "not JSON", NO_CONTEXT).account is None
