"""Lines to values and back, at the edges that other writers and readers stand on."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from collectord.errors import SessionDataError
from collectord.sessiondata import (
    Dropped,
    End,
    Header,
    Part,
    Record,
    Usage,
    decode_end,
    decode_header,
    decode_record,
    encode,
)
from tests.sessiondata.strategies import header, headers, record, records

STRUCTS: dict[str, type] = {"parts": Part, "dropped": Dropped, "usage": Usage}


def keys_of(struct: type) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(struct)]


def structs_in(line: bytes, struct: type) -> Iterator[tuple[type, dict[str, Any]]]:
    """Yield every struct of a line with its members; a part's data is not one."""
    value = json.loads(line)
    yield struct, value
    for name, inner in STRUCTS.items():
        held = value.get(name, [])
        for each in held if isinstance(held, list) else [held]:
            yield inner, each


@given(records())
def test_a_record_read_back_is_the_record_that_was_written(value: Record) -> None:
    line = encode(value)
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert decode_record(line) == value


@given(headers)
def test_a_header_read_back_is_the_header_that_was_written(value: Header) -> None:
    assert decode_header(encode(value)) == value


@given(st.integers(0, 1 << 40))
def test_a_closing_line_read_back_is_the_one_that_was_written(count: int) -> None:
    end = End("end", count, "0" * 64)
    assert decode_end(encode(end)) == end


@given(records())
def test_no_field_that_holds_nothing_is_written(value: Record) -> None:
    for _, members in structs_in(encode(value), Record):
        assert not [key for key, held in members.items() if held in ("", [], {}, None)]


@given(records())
def test_keys_stand_in_the_order_of_the_model(value: Record) -> None:
    for struct, members in structs_in(encode(value), Record):
        order = keys_of(struct)
        assert list(members) == sorted(members, key=order.index)


@pytest.mark.parametrize("data", [b"{}", b"[]", b'""', b"null"])
def test_data_that_holds_nothing_is_no_data(data: bytes) -> None:
    part = Part(k="call", data=Raw(data), state="available", bytes=len(data))
    assert b'"data"' not in encode(record(parts=[part]))


@pytest.mark.parametrize("data", [b"0", b"false", b"[0]", b'"0"', b'" "'])
def test_data_that_is_a_value_is_written(data: bytes) -> None:
    part = Part(k="data", data=Raw(data), state="available", bytes=len(data))
    assert b'"data":' + data in encode(record(parts=[part]))


def test_zero_and_false_are_written() -> None:
    part = Part(k="result", failed=False, state="available", bytes=0)
    line = encode(record(off=0, bytes=0, usage=Usage(in_=0), parts=[part]))
    assert b'"off":0' in line and b'"usage":{"in":0}' in line
    assert b'"failed":false,"state":"available","bytes":0' in line


@given(records(), st.randoms(use_true_random=False))
def test_any_key_order_and_unknown_keys_are_read(value: Record, random: Any) -> None:
    def shuffled(raw: bytes, inner: dict[str, type]) -> bytes:
        found = [
            *msgspec.json.decode(raw, type=dict[str, Raw]).items(),
            ("later", Raw(b'{"x":[1]}')),
        ]
        random.shuffle(found)
        out = []
        for key, held in found:
            text = bytes(held)
            if key in inner and text.startswith(b"["):
                each = [shuffled(one, {}) for one in msgspec.json.decode(text, type=list[Raw])]
                text = b"[" + b",".join(each) + b"]"
            elif key in inner:
                text = shuffled(text, {})
            out.append(json.dumps(key).encode() + b" :" + text)
        return b"{" + b", ".join(out) + b"}\n"

    assert (
        decode_record(shuffled(encode(value).rstrip(b"\n"), STRUCTS).replace(b"\n", b"")) == value
    )


def test_a_digest_of_64_digits_is_kept() -> None:
    assert decode_record(encode(record(sha="ab" * 32))).sha == "ab" * 32


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (encode(header(h=2)), "`h` is 2"),
        (encode(header(h=msgspec.UNSET)), "`h` is absent"),
        (encode(header(schema="sd/2")), "`schema` is 'sd/2'"),
        (encode(header(schema="")), "`schema` is ''"),
        (encode(header()).replace(b'"seq":1', b'"seq":"1"'), "seq"),
        *[(encode(header(**{name: ""})), f"no `{name}`")
          for name in ("kind", "session", "src", "adapter", "dialect")],
        (b"[1]\n", "not a header"),
        (b"\xff\n", "not a header"),
        (b"[" * 100_000 + b"\n", "not a header"),
    ],
)  # fmt: skip
def test_a_refused_header_names_the_file_and_the_field_in_one_line(line: bytes, field: str) -> None:
    with pytest.raises(SessionDataError) as refused:
        decode_header(line, where="folder/a.sd")
    assert str(refused.value).startswith("folder/a.sd:1: ")
    assert field in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "line", [b"", b"1", b'{"ord":"1"}', b'{"ord":1', b'{"x":' + b"[" * 100_000]
)
def test_a_refused_record_names_the_file_and_the_line(line: bytes) -> None:
    with pytest.raises(SessionDataError, match=r"^a\.sd:7: not a record: "):
        decode_record(line, where="a.sd", number=7)


@pytest.mark.parametrize(
    "line",
    [b"", b"{}", b'{"t":"end"}', b'{"t":"begin","records":1,"digest":"x","y":"end"}',
     b'{"t":"end","x":' + b"[" * 100_000, encode(record(id="end"))],
)  # fmt: skip
def test_what_is_no_closing_line_is_none(line: bytes) -> None:
    assert decode_end(line) is None
