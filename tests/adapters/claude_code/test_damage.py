"""Lines that a crash, a bug or another program left behind."""

from collections.abc import Callable
from typing import Any

import pytest

from collectord.sources import BOM
from tests.adapters.claude_code.lines import Landed, compact

Convert = Callable[..., Any]
Land = Callable[..., Landed]

DEEP = b'{"type":"user","message":{"content":"x"},"todos":' + b"[" * 400 + b"]" * 400 + b"}"

VERBATIM = [
    (b'{"type":"user","message":{"content":"cut', "the record is not valid JSON"),
    (b'{"type":"a"}{"type":"b"}', "the record is not valid JSON"),
    (b'{"type":"a"}\x00\x00\x00', "the record is not valid JSON"),
    (b"\x00" * 64, "the record is not valid JSON"),
    (b'{"type":"a\x01"}', "the record is not valid JSON"),
    (b'{"n":01}', "the record is not valid JSON"),
    (b'{"n":NaN}', "the record is not valid JSON"),
    (b'{"cut \\ud83d', "the record is not valid JSON"),
    (b"[1,2]", "the record is not a JSON object"),
    (b'"text"', "the record is not a JSON object"),
    (b"null", "the record is not a JSON object"),
    (b'{"type":"a\xff"}', "the record is not valid UTF-8"),
    (b'{"type":"a\xed\xa0\x80"}', "the record is not valid UTF-8"),
    (DEEP, "the record is nested deeper than 400 levels"),
    (b'{"a":' * 401 + b"1" + b"}" * 401, "the record is nested deeper than 400 levels"),
    (b"[" * 100_000, "the record is nested deeper than 400 levels"),
]


@pytest.mark.parametrize(("line", "reason"), VERBATIM, ids=range(len(VERBATIM)))
def test_what_cannot_be_taken_apart_lands_byte_for_byte(
    convert: Convert, land: Land, line: bytes, reason: str
) -> None:
    context = {"cwd": "anything"}
    record = land(line)
    [part] = record["parts"]

    assert (part["k"], part["text"], part["bytes"]) == ("unknown", reason, len(line))
    assert record["from"] == "runtime"
    assert record.keys() == {"ord", "off", "sha", "bytes", "from", "parts"}
    if "encoding" not in part:
        assert part["data"].encode() == line
    assert convert(line, context=context).context is context
    assert convert(line, audit=True).account.unknown == len(line)


def test_the_result_does_not_depend_on_how_deep_the_caller_stands(land: Land) -> None:
    def lower(levels: int, line: bytes) -> Landed:
        return land(line) if levels == 0 else lower(levels - 1, line)

    for levels in (99, 100, 101, 398, 399, 400):
        line = b'{"type":"user","message":{"content":"x"},"todos":[' + b"[" * levels
        line += b"]" * levels + b"]}"
        assert lower(400, line) == land(line)


def test_half_a_character_becomes_the_replacement_and_is_stated(land: Land) -> None:
    line = b'{"type":"user","uuid":"u\\udc00","message":{"content":"a\\ud83d b\\ud83d\\ude00"}}'

    record = land(line)

    assert record["id"] == "u�"
    assert record["parts"][0]["text"] == "a� b😀"
    [entry] = record["dropped"]
    assert (entry["what"], entry["bytes"]) == ("lone surrogate", 12)


def test_half_a_character_in_a_whole_record_is_stated_too(land: Land) -> None:
    record = land(b'{"type":"mode","mode":"\\ud83d"}')

    assert record["parts"][0]["data"] == {"type": "mode", "mode": "�"}
    assert record["dropped"][0]["bytes"] == 6


def test_a_byte_order_mark_is_skipped_on_the_first_record_only(land: Land) -> None:
    line = BOM + compact({"type": "mode"})

    first, second = land(line, off=0), land(line, off=99)

    assert first["bytes"] == second["bytes"] == len(line)
    assert first["parts"][0]["k"] == "data"
    assert second["parts"][0]["text"] == "the record is not valid JSON"


@pytest.mark.parametrize("value", [b"[ ]", b"{ }", b"[1 ]", b"{\t}"])
def test_white_space_in_the_shortest_values_goes_too(convert: Convert, value: bytes) -> None:
    line = b'{"todos":%s,"cwd":%s,"message":{"content":"x","usage":{"a":%s}}}' % ((value,) * 3)

    found = convert(line).record.parts[-1].data

    assert bytes(found) == bytes(found).translate(None, b" \t")


def test_white_space_between_tokens_goes_and_stays_in_text(convert: Convert) -> None:
    line = b' {"type" : "user" ,"message": {"content": "a  b"}, "todos": [ 1.10 , 2 ] }\t'

    record = convert(line).record

    assert record.parts[0].text == "a  b"
    assert bytes(record.parts[1].data) == b'{"todos":[1.10,2]}'


def test_values_keep_their_digits_escapes_and_repeated_keys(convert: Convert) -> None:
    value = b'{"a":1.10,"a":123456789012345678901234567890,"b":"\\u00e9\\/"}'
    line = b'{"type":"user","message":{"content":[{"type":"tool_use","input":' + value + b"}]}}"

    assert bytes(convert(line).record.parts[0].data) == value


REFUSED = [b"1e400", b"-1e999", b"1" * 400, b"[" * 101 + b"]" * 101]


@pytest.mark.parametrize("value", REFUSED, ids=range(len(REFUSED)))
def test_what_a_strict_parser_refuses_is_text_and_the_rest_as_usual(
    land: Land, value: bytes
) -> None:
    block = b'{"type":"tool_use","id":"t","input":{"n":' + value + b"}}"
    line = b'{"type":"assistant","uuid":"u","message":{"content":['
    line += b'{"type":"text","text":"x"},' + block + b"]}}"

    record = land(line)

    assert record["id"] == "u"
    assert [part["k"] for part in record["parts"]] == ["text", "unknown"]
    assert record["parts"][1]["data"].encode() == block
    assert record["parts"][1]["text"]


def test_lines_are_read_whatever_unicode_they_hold(land: Land) -> None:
    text = "a\u2028b\u0085c\x00d\x1fe\ufffef"

    record = land({"type": "user", "message": {"content": text}})

    assert record["parts"][0] == {
        "k": "text",
        "text": text,
        "state": "available",
        "bytes": len(text.encode()),
    }
