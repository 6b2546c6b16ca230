"""The packaged JSON Schema says the same as the code."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectord.errors import SessionDataError
from collectord.sessiondata import (
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
    decode_header,
    decode_record,
    encode,
    header_problems,
    json_schema,
    record_problems,
)
from tests.sessiondata.strategies import header, headers, record, records

WHOLE = json_schema()
DEFS = WHOLE["$defs"]


def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": DEFS})


RECORD, HEADER, LINE = (
    validator("record"),
    validator("header"),
    jsonschema.Draft202012Validator(WHOLE),
)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(WHOLE)


@pytest.mark.parametrize(
    ("properties", "struct"),
    [
        (DEFS["header"], Header),
        (DEFS["record"], Record),
        (DEFS["part"], Part),
        (DEFS["dropped"], Dropped),
        (DEFS["end"], End),
        (DEFS["record"]["properties"]["usage"], Usage),
    ],
)
def test_properties_are_the_fields_in_their_order(properties: Any, struct: type) -> None:
    fields = [field.encode_name for field in msgspec.structs.fields(struct)]
    assert list(properties["properties"]) == fields


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (DEFS["header"]["properties"]["kind"]["enum"], Kind),
        (DEFS["record"]["properties"]["from"]["enum"], From),
        (DEFS["record"]["properties"]["trigger"]["enum"], TRIGGERS),
        (DEFS["record"]["properties"]["flags"]["items"]["enum"], FLAGS),
        (DEFS["part"]["properties"]["k"]["enum"], PartKind),
        (DEFS["part"]["properties"]["state"]["enum"], State),
        ([DEFS["header"]["properties"]["schema"]["const"]], [SCHEMA]),
    ],
)
def test_closed_sets_are_the_code_s(found: list[str], wanted: Any) -> None:
    assert found == [str(each) for each in wanted]


@given(records())
def test_a_valid_record_passes_both(value: Record) -> None:
    assert record_problems(value) == []
    RECORD.validate(json.loads(encode(value)))


@given(headers)
def test_a_valid_header_passes_both(value: Header) -> None:
    assert header_problems(value) == []
    HEADER.validate(json.loads(encode(value)))


Change = Callable[[dict[str, Any]], object]


def put(key: str, value: object) -> Change:
    return lambda line: line.update({key: value})


def without(key: str) -> Change:
    return lambda line: line.pop(key)


def part(change: Change) -> Change:
    return lambda line: change(line["parts"][-1])


def dropped(change: Change) -> Change:
    def changed(line: dict[str, Any]) -> None:
        entry: dict[str, Any] = {"what": "signature", "bytes": 1, "why": "not readable"}
        change(entry)
        line["dropped"] = [entry]

    return changed


def misplaced(field: str, value: object, kind: str) -> Change:
    return part(lambda held: held.update({"k": kind, field: value}))


BROKEN_RECORD: list[Change] = [
    *map(without, ("ord", "sha", "bytes", "from", "parts")),
    put("ord", -1), put("ord", "1"), put("off", -1), put("bytes", -1), put("sha", "0123456789AB"),
    put("sha", "0123"), put("from", "nobody"), put("trigger", "someone"), put("flags", ["shiny"]),
    put("flags", ["finished", "finished"]), put("flags", "finished"), put("usage", {}),
    put("usage", {"input": 1}), put("usage", {"in": "1"}), put("parts", []), put("id", 5),
    *(part(without(key)) for key in ("k", "state", "bytes")),
    part(put("k", "thought")), part(put("state", "gone")), part(put("bytes", -1)),
    part(put("encoding", "hex")), part(put("text", 1)), misplaced("data", {"a": 1}, "unknown"),
    misplaced("id", "x", "result"), misplaced("of", "x", "call"), misplaced("name", "x", "text"),
    misplaced("media", "x", "data"), misplaced("failed", False, "call"),
    misplaced("encoding", "base64", "data"),
    *(dropped(without(key)) for key in ("what", "bytes", "why")), dropped(put("what", "")),
    dropped(put("why", "")), dropped(put("bytes", -1)),
]  # fmt: skip

BROKEN_HEADER: list[Change] = [
    *map(without, ("h", "schema", "seq", "at", "kind", "adapter", "dialect", "src", "session")),
    put("h", 2), put("schema", "sd/2"), put("seq", 0), put("seq", "1"), put("at", "yesterday"),
    put("at", "2026-09-01T12:56:03+02:00"), put("at", "२०२६-09-01T12:56:03Z"), put("kind", "diary"),
    put("session", ""), put("src", "/a"), put("src", "a\\b"), put("src", ".."), put("src", "a/../b"),
    put("src", "../b"), put("src", "a/.."), put("stream", 1),
]  # fmt: skip


def record_is_refused(line: bytes) -> bool:
    try:
        return record_problems(decode_record(line)) != []
    except SessionDataError:
        return True


def header_is_refused(line: bytes) -> bool:
    try:
        return header_problems(decode_header(line)) != []
    except SessionDataError:
        return True


@given(records(), st.sampled_from(BROKEN_RECORD))
def test_a_broken_record_fails_both(value: Record, change: Change) -> None:
    line = json.loads(encode(value))
    change(line)
    assert not RECORD.is_valid(line)
    assert record_is_refused(json.dumps(line).encode())


@pytest.mark.parametrize("change", BROKEN_RECORD, ids=map(str, range(len(BROKEN_RECORD))))
def test_each_breakage_alone_fails_both(change: Change) -> None:
    line = json.loads(encode(record()))
    change(line)
    assert not RECORD.is_valid(line) and record_is_refused(json.dumps(line).encode())


@pytest.mark.parametrize("change", BROKEN_HEADER, ids=map(str, range(len(BROKEN_HEADER))))
def test_a_broken_header_fails_both(change: Change) -> None:
    line = json.loads(encode(header()))
    assert HEADER.is_valid(line) and not header_is_refused(json.dumps(line).encode())
    change(line)
    assert not HEADER.is_valid(line) and header_is_refused(json.dumps(line).encode())


def test_one_schema_holds_every_line_of_a_file() -> None:
    for line in (encode(header()), encode(record()), encode(End("end", 1, "0" * 64))):
        LINE.validate(json.loads(line))
    assert not LINE.is_valid({"t": "begin"})


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "strict"),
        (b'{"a": 1}', "compact"),
        (b'["a"\n]', "compact"),
        (b"1e400", "strict"),
        (b'"\\ud83d"', "strict"),
        (b'"\xff"', "strict"),
        (b"[" * 101 + b"]" * 101, "deeper"),
    ],
)
def test_data_that_a_strict_parser_refuses_is_a_problem(data: bytes, word: str) -> None:
    value = record(parts=[Part(k="data", data=msgspec.Raw(data), state="available", bytes=1)])
    assert [problem for problem in record_problems(value) if word in problem]


def test_flags_out_of_order_are_a_problem() -> None:
    assert record_problems(record(flags=["finished", "synthetic"]))
