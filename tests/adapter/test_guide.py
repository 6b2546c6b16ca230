"""The plug-in that the guide shows works, and keeps what the guide expects of every adapter."""

import hashlib
import json
import runpy
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw

from collectord.adapter import NO_CONTEXT, Adapter, Reader, Source
from collectord.sessiondata import (
    Kind,
    Record,
    decode_record,
    encode,
    record_problems,
)
from collectord.sources import RawRecord
from tests.adapter.plugins import guide_example
from tests.sessiondata.strategies import spaced_json


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Adapter:
    path = tmp_path_factory.mktemp("guide") / "collectord_diary.py"
    path.write_text(guide_example(), "utf-8")
    loaded = runpy.run_path(str(path))["ADAPTER"]
    assert isinstance(loaded, Adapter)
    return loaded


SOURCE = Source(
    "diary-local", "a.jsonl", Path("a.jsonl"), Kind.TRANSCRIPT, Reader.LINES, session="a", stream="main"
)  # fmt: skip


def raw_of(data: bytes, off: int = 0) -> RawRecord:
    return RawRecord(1, off, len(data), hashlib.sha256(data).hexdigest()[:12], data)


def convert(adapter: Adapter, data: bytes) -> Record:
    return adapter.dialect.convert(raw_of(data), SOURCE, NO_CONTEXT).record


def test_a_line_becomes_a_record(adapter: Adapter) -> None:
    line = b'{"id":"7","at":"2026-09-01T12:00:00Z","who":"person","text":"hello"}'
    record = convert(adapter, line)
    assert (record.id, record.time, record.from_) == ("7", "2026-09-01T12:00:00Z", "external")
    assert [(part.k, part.text, part.bytes) for part in record.parts] == [("text", "hello", 5)]


def test_a_member_that_is_not_described_is_kept(adapter: Adapter) -> None:
    record = convert(adapter, b'{"text":"a","mood":[1.10],"text":"b","who":"cat"}')
    text, unknown = record.parts
    assert text.text == "b"
    assert unknown.text == "not described: text, mood, who"
    assert isinstance(unknown.data, Raw)
    assert json.loads(bytes(unknown.data)) == '{"text":"a","mood":[1.10],"who":"cat"}'


def test_sources_are_told_by_their_names(adapter: Adapter) -> None:
    root = Path("/nowhere/.diary")
    found = adapter.locate(root, root / "s-1.jsonl")
    assert found is not None and (found.src, found.session) == ("s-1.jsonl", "s-1")
    assert adapter.locate(root, root / "s-1.txt") is None
    assert adapter.locate(root, root / "deep" / "s-1.jsonl") is None
    assert [*adapter.roots({}, Path("/home/x"))] == [Path("/home/x/.diary")]
    assert [*adapter.roots({"DIARY_HOME": "/d"}, Path("/home/x"))] == [Path("/d")]


def test_a_folder_with_diaries_is_a_root(adapter: Adapter, tmp_path: Path) -> None:
    assert [*adapter.roots_at(tmp_path)] == []
    (tmp_path / "a.jsonl").touch()
    assert [*adapter.roots_at(tmp_path)] == [tmp_path]


described = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["", "7", "é"]),
        "at": st.sampled_from(["", "2026-09-01T12:00:00Z"]),
        "who": st.sampled_from(["model", "person", "cat"]),
        "text": st.text("a\u2028\x00😀\ud800", max_size=3),
        "more": st.none() | st.integers() | st.lists(st.text("a", max_size=1), max_size=2),
    },
).map(lambda members: json.dumps(members, ensure_ascii=True).encode())


@given(st.binary(max_size=20) | spaced_json | described, st.sampled_from([0, 10]))
@example(b"[" * 100_000, 0)
@example(b'{"a":' * 100_000, 0)
@example(b'{"a":' * 399 + b"1" + b"}" * 399, 0)
@example(b'\xef\xbb\xbf{"text":"a"}', 0)
@example(b'\xef\xbb\xbf{"text":"a"}', 10)
@example(b'{"a":1e400}', 0)
@example(b'{"\\ud800":"\\ud800"}', 0)
@example(b"{}", 0)
@example(b"{", 0)
def test_what_is_expected_of_every_adapter(adapter: Adapter, data: bytes, off: int) -> None:
    raw = raw_of(data, off)
    converted = adapter.dialect.convert(raw, SOURCE, NO_CONTEXT, audit=True)
    record = converted.record
    assert record_problems(record) == []
    assert (record.ord, record.off, record.sha, record.bytes) == (1, off, raw.sha, raw.size)
    assert decode_record(encode(record)) == record
    assert converted.account is not None and converted.account.total == raw.size
    assert min(converted.account) >= 0
    again = adapter.dialect.convert(raw, SOURCE, NO_CONTEXT)
    assert again.record == record and again.account is None and NO_CONTEXT == {}


@given(described.filter(lambda line: len(json.loads(line)) > 0), st.data())
def test_no_member_can_be_taken_out_unnoticed(
    adapter: Adapter, line: bytes, data: st.DataObject
) -> None:
    members = json.loads(line)
    key = data.draw(st.sampled_from(sorted(members)))
    less = {name: value for name, value in members.items() if name != key}
    before, after = convert(adapter, line), convert(adapter, json.dumps(less).encode())
    for record in (before, after):
        record.sha, record.bytes = "", 0
    assert before != after
