"""A record that is not parsed lands whole, and the format's reader finds its bytes."""

import base64
import tempfile
from pathlib import Path

import pytest
from msgspec import Raw

from collectord.pipeline import convert
from collectord.sessiondata import decode_record, encode, open_sd, reader, record_problems
from collectord.sessiondata.rawjson import string
from collectord.sources import Cursor, read_lines
from tests.sessiondata.strategies import header


@pytest.mark.parametrize("piece", [3, 6, 3000])
@pytest.mark.parametrize(
    "data",
    ['{"a":"é😀\\"'.encode() + b"y" * 999, b"\xff" * 1000, b"x" * 999 + b'"\\', b"\0" * 1000],
)
def test_its_bytes_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, piece: int
) -> None:
    monkeypatch.setattr(convert, "_CHUNK", piece)
    with tempfile.TemporaryFile() as source:
        source.write(b"first\n" + data + b"\n")
        source.flush()
        raw = read_lines(source.fileno(), Cursor(1, 6), convert_bytes=100).raws[0]
        line = b"".join(convert.long_line(source.fileno(), raw, 100))
    record = decode_record(line)
    (part,) = record.parts
    assert record_problems(record) == [] and line == encode(record)
    assert isinstance(part.data, Raw)
    held = string(part.data)
    assert data == (base64.b64decode(held) if part.encoding else held.encode())

    (tmp_path / "a.sd").write_bytes(encode(header()) + line)
    monkeypatch.setattr(reader, "LONG_LINE_BYTES", 500)
    monkeypatch.setattr(reader, "_CHUNK", 100)
    with open_sd(tmp_path / "a.sd") as sd:
        (found,) = sd.lines()
    assert found.data_range is not None
    whole = (tmp_path / "a.sd").read_bytes()
    assert string(b'"' + whole[found.data_range.start : found.data_range.stop] + b'"') == held
