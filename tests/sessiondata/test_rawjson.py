"""JSON taken apart without loss, held against simple references."""

import json
import re
import tracemalloc
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from collectord.sessiondata import rawjson
from collectord.sessiondata.rawjson import (
    MAX_PART_DEPTH,
    NotStrict,
    array,
    compact,
    depth,
    members,
    object_of,
    pairs,
    quote,
    replace_lone_surrogates,
    strict,
    string,
)
from tests.sessiondata.strategies import (
    GAPS,
    Written,
    compact_json,
    json_texts,
    members_of,
    spaced_json,
)

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+')

written = st.lists(members_of(json_texts(st.just(b"")), st.sampled_from(GAPS)), max_size=5)
noise = st.lists(
    st.sampled_from(
        [
            b'"',
            b"{",
            b"}",
            b"[",
            b"]",
            b":",
            b",",
            b"\\",
            b"u",
            b"d83d",
            b"1",
            b"-",
            b".",
            b"e",
            b"true",
            b"null",
            b" ",
            b"\n",
            b"\xff",
            b"\x00",
            b"a",
            b'"a"',
            b'"a":1',
        ]
    ),
    max_size=14,
).map(b"".join)


def object_text(found: list[Written]) -> bytes:
    return b"{" + b",".join(member.text for member in found) + b"}"


def everything(raw: bytes) -> Any:
    """Parse as the standard library does, with objects as lists of pairs, repeats included."""
    return json.loads(raw, object_pairs_hook=lambda found: ("object", found))


@given(written)
@example([Written((b"",) * 4, '"é"'.encode(), b"1")])
@example([Written((b"",) * 4, b'"a"', b"1"), Written((b"",) * 4, b'"a"', b"2")])
def test_members_is_none_exactly_when_something_would_be_lost(found: list[Written]) -> None:
    keys = [json.loads(member.key) for member in found]
    loses = (
        any(any(member.gaps) or b"\\" in member.key for member in found)
        or len(set(keys)) < len(keys)
    )  # fmt: skip
    taken = members(object_text(found))
    assert (taken is None) == loses
    if taken is not None:
        assert [(key, bytes(value)) for key, value in taken.items()] == [
            (key, member.value) for key, member in zip(keys, found, strict=True)
        ]


@given(written)
def test_pairs_are_every_member_in_order(found: list[Written]) -> None:
    raw = object_text(found)
    taken = pairs(raw)
    assert ("object", [(m.key, everything(bytes(m.value))) for m in taken]) == everything(raw)
    assert [bytes(m.value) for m in taken] == [member.value for member in found]
    assert [m.size for m in taken] == [len(m.key) + 1 + len(m.value) for m in found]


@given(written)
def test_an_object_s_members_and_the_hidden_ones_are_all_of_it(found: list[Written]) -> None:
    raw = bytes(compact(object_text(found)))
    seen, hidden = object_of(raw)
    assert {key: json.loads(bytes(value)) for key, value in seen.items()} == json.loads(raw)
    everyone = sorted((json.loads(m.key), m.value) for m in found)
    held = [*seen.items(), *((m.key, m.value) for m in hidden)]
    assert sorted((key, bytes(value)) for key, value in held) == everyone


@given(spaced_json)
def test_compact_keeps_every_token_and_nothing_else(raw: bytes) -> None:
    assert bytes(compact(raw)) == b"".join(TOKEN.findall(raw))
    assert everything(bytes(compact(raw))) == everything(raw)


@given(st.lists(compact_json, max_size=5))
def test_an_array_s_elements_are_slices_of_it(items: list[bytes]) -> None:
    assert [bytes(item) for item in array(b"[" + b" , ".join(items) + b"]")] == items


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_quoted_text_is_read_back(text: str) -> None:
    assert string(quote(text)) == text == orjson.loads(bytes(quote(text)))


@given(noise | st.binary(max_size=20) | spaced_json)
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
def test_arbitrary_bytes_are_refused_as_not_strict_or_taken(raw: bytes) -> None:
    for function in (members, object_of, pairs, array, string, compact):
        try:
            function(raw)
        except NotStrict as error:
            assert str(error)
    assert isinstance(strict(raw), str)
    assert replace_lone_surrogates(raw)[1] % 6 == 0
    assert depth(raw) >= 0


@pytest.mark.parametrize(
    "raw", [b"1e400", b"[1e400]", b"[" * 101 + b"]" * 101, b'{"a":' * 101 + b"1" + b"}" * 101]
)
def test_what_a_strict_parser_refuses_has_a_reason(raw: bytes) -> None:
    assert strict(raw) and "\n" not in strict(raw)


@pytest.mark.parametrize(
    "raw",
    [b"1.10", b"9" * 30, b'{"a":1,"a":2}', b"[" * MAX_PART_DEPTH + b"]" * MAX_PART_DEPTH,
     b'["' + b"[" * 200 + b'"]', b"[" + b"[]," * 200 + b"[]]", b"1e-400", b'"x"'],
)  # fmt: skip
def test_what_a_strict_parser_reads_has_none(raw: bytes) -> None:
    assert strict(raw) == ""


def nesting(value: Any) -> int:
    if isinstance(value, tuple):
        return 1 + max((nesting(held) for _, held in value[1]), default=0)
    if isinstance(value, list):
        return 1 + max(map(nesting, value), default=0)
    return 0


@given(spaced_json)
@example(b"[[[]],[]]")
def test_depth_is_how_deep_a_parser_goes(raw: bytes) -> None:
    assert depth(raw) == nesting(everything(raw))


UNITS = ["\\ud83d", "\\uDE00", "\\uD83D\\ude00", "\\\\", '\\"', "\\u0041", "\\u005c", "ud83d", "é", "\\n"]  # fmt: skip


def repaired(raw: str) -> tuple[str, int]:
    """Walk over the escapes one by one: the reference."""
    out, replaced, at = "", 0, 0
    while at < len(raw):
        size = 1 if raw[at] != "\\" else 6 if raw[at + 1] == "u" else 2
        token = raw[at : at + size]
        code = int(f"0x{token[2:]}", 0) if size == 6 else 0
        after = raw[at + 6 : at + 12]
        low = int(f"0x{after[2:]}", 0) if re.fullmatch(r"\\u[0-9a-fA-F]{4}", after) else 0
        if 0xD800 <= code < 0xDC00 and 0xDC00 <= low < 0xE000:
            token += after
        elif 0xD800 <= code < 0xE000:
            token, replaced = "\\ufffd", replaced + 6
        out += token
        at += len(token)
    return out, replaced


@given(st.lists(st.sampled_from(UNITS), max_size=8).map("".join))
def test_lone_surrogates_and_only_those_are_replaced(inside: str) -> None:
    raw = f'"{inside}"'.encode()
    text, replaced = replace_lone_surrogates(raw)
    wanted, count = repaired(inside)
    assert text == f'"{wanted}"'.encode() and replaced == count
    assert len(text) == len(raw)
    orjson.loads(text)


@pytest.mark.parametrize("unit", [b"a", b"\\n", b'ab\\"'])
def test_a_long_string_costs_no_more_than_its_own_size(unit: bytes) -> None:
    raw = b'{"a":"' + unit * (2_000_000 // len(unit)) + b'","a":1}'
    tracemalloc.start()
    try:
        assert [m.key for m in rawjson.pairs(raw)] == ["a", "a"] and depth(raw) == 1
        assert tracemalloc.get_traced_memory()[1] < 4 * len(raw)
    finally:
        tracemalloc.stop()
