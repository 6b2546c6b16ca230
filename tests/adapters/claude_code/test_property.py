"""
Whatever happens to a line, it lands as one valid record, and every byte is accounted.

Real records are changed the way crashes, bugs and new versions change them: a member
gets another type, goes, comes twice or under a new name, and the bytes get white space,
half characters, NULs, numbers that no double holds, cuts and neighbours.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import orjson
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import Raw

from collectord.adapter import NO_CONTEXT, Context, Converted
from collectord.sessiondata import encode, record_problems
from collectord.sessiondata.rawjson import NotStrict, strict
from collectord_adapters.claude_code import ADAPTER
from collectord_adapters.claude_code.values import parsed
from tests.adapters.claude_code.lines import raw_of, source_of
from tests.golden.regenerate import raws_of, sources_of

GOLDEN = Path(__file__).parents[2] / "golden" / "claude_code"

RECORDS: list[dict[str, Any]] = []
for _case in sorted(GOLDEN.iterdir()):
    for _source in sources_of(ADAPTER, _case / "projects"):
        for _raw in raws_of(_source):
            try:
                _record = json.loads(_raw.data or b"")
            except ValueError:
                continue
            if isinstance(_record, dict):
                RECORDS.append(_record)

NAMES = sorted({key for record in RECORDS for key in record} | {"novelty", "ü", 'a"b', "a.b", ""})


class Written(str):
    """JSON that stands in the line as it is."""

    __slots__ = ()


JUNK: list[object] = [
    None, True, False, 0, -1, 1.5, "", "x", "main", [], {}, [[]], {"type": "text"}, ["x"],
    {"kind": "human"}, "Error: x", 1 << 62, 1 << 63, 1 << 90,
    Written("1e400"), Written("-1e400"), Written("1E0001"), Written("1.10"), Written("1" * 400),
    Written('"\\ud83d"'), Written('"\\ude00\\ud83d"'), Written('"\\ud83d\\ude00"'),
    Written('"\\u0000\\/"'), Written('"\x00"'), Written('{"a":1,"a":2}'), Written('{"\\u0061":1}'),
    Written("[" * 99 + "]" * 99), Written("[" * 101 + "]" * 101), Written("[" * 400 + "]" * 400),
    Written("[ 1 , { } ]"), Written('{"type":"text","text":"x","type":"image"}'),
    Written("01"), Written("nul"), Written(""),
]  # fmt: skip

paths = st.lists(st.integers(0, 40), min_size=1, max_size=5)
changes = st.lists(
    st.tuples(
        st.sampled_from(["set", "delete", "rename", "repeat", "insert"]),
        paths,
        st.sampled_from(NAMES),
        st.sampled_from(JUNK),
    ),
    max_size=4,
)
damages = st.lists(
    st.tuples(
        st.sampled_from(["none", "none", "cut", "insert", "double", "space", "pad"]),
        st.integers(0, 4000),
        st.sampled_from([b"\x00", b"\xff", b"\\ud83d", b" ", b"\t", b'"', b"{", b"]", b"\xe2\x80\xa8"]),
    ),
    max_size=2,
)  # fmt: skip


class Pairs(list[tuple[str, Any]]):
    """An object as a list of members, so that one can come twice."""


def opened(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs((key, opened(inner)) for key, inner in value.items())
    return [opened(inner) for inner in value] if isinstance(value, list) else value


def written(value: Any, space: str = "") -> str:
    if isinstance(value, Written):
        return str(value)
    if isinstance(value, Pairs):
        inner = (f"{json.dumps(key)}:{space}{written(one, space)}" for key, one in value)
        return "{" + f",{space}".join(inner) + "}"
    if isinstance(value, list):
        return "[" + f",{space}".join(written(one, space) for one in value) + "]"
    if isinstance(value, dict):
        return written(opened(value), space)
    is_half = isinstance(value, str) and any(
        "\ud800" <= character <= "\udfff" for character in value
    )
    return json.dumps(value, ensure_ascii=is_half)


def change(record: Pairs, how: str, path: list[int], name: str, junk: object) -> None:
    """Change the member at *path* of *record*: each step is a place, modulo what there is."""
    junk = opened(junk)
    holder: Any = record
    for step in path[:-1]:
        if not holder:
            break
        inner = holder[step % len(holder)]
        inner = inner[1] if isinstance(holder, Pairs) else inner
        if not isinstance(inner, list) or not inner:
            break
        holder = inner
    if not holder:
        return
    at = path[-1] % len(holder)
    is_object = isinstance(holder, Pairs)
    if how == "delete":
        del holder[at]
    elif how == "repeat":
        holder.append((holder[at][0], junk) if is_object else holder[at])
    elif how == "insert":
        holder.insert(at, (name, junk) if is_object else junk)
    elif how == "rename" and is_object:
        holder[at] = (name, holder[at][1])
    else:
        holder[at] = (holder[at][0], junk) if is_object else junk


def damage(line: bytes, how: str, at: int, with_: bytes) -> bytes:
    at %= len(line) + 1
    match how:
        case "cut":
            return line[:at]
        case "insert":
            return line[:at] + with_ + line[at:]
        case "double":
            return line + line[at:]
        case "pad":
            return line + with_ * 8
    return line


def check(line: bytes, context: Context) -> Converted:
    """Check everything that must hold of *line*, whatever it is."""
    raw, source = raw_of(line), source_of(stream="main")
    converted = ADAPTER.dialect.convert(raw, source, context)
    again = ADAPTER.dialect.convert(raw, source, context, audit=True)
    assert again.record == converted.record
    assert again.context == converted.context
    assert record_problems(converted.record) == []
    assert again.account is not None
    assert again.account.total == raw.size
    assert min(again.account) >= 0

    landed = encode(converted.record)
    assert landed.count(b"\n") == 1
    record = orjson.loads(landed)
    assert json.loads(landed) == record
    assert msgspec.json.decode(landed) == record
    assert record["bytes"] == len(line)
    for part in record["parts"]:
        if part["k"] == "unknown":
            assert isinstance(part["data"], str)
            assert part["text"]
    # An environment that was stated is stated once.
    repeated = ADAPTER.dialect.convert(raw, source, converted.context)
    assert repeated.context is converted.context
    return converted


@settings(max_examples=600, deadline=None)
@given(
    record=st.sampled_from(RECORDS),
    changed=changes,
    damaged=damages,
    space=st.sampled_from(["", "", "", " ", "\t "]),
    before=st.sampled_from(RECORDS),
)
def test_any_line_becomes_one_valid_record(
    record: dict[str, Any],
    changed: list[tuple[str, list[int], str, object]],
    damaged: list[tuple[str, int, bytes]],
    space: str,
    before: dict[str, Any],
) -> None:
    value = opened(record)
    for how, path, name, junk in changed:
        change(value, how, path, name, junk)
    line = written(value, space).encode()
    for harm, at, with_ in damaged:
        line = damage(line, harm, at, with_)
    if line.strip(b" \t\r"):
        context = check(written(opened(before)).encode(), NO_CONTEXT).context
        check(line, context)


def carried(value: Any, texts: set[str]) -> None:
    """Collect every string and number that a landed record shows, JSON in strings included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            texts.update(key.split("."))
            carried(inner, texts)
    elif isinstance(value, list):
        for inner in value:
            carried(inner, texts)
    else:
        texts.add(str(value))
        if isinstance(value, str) and value[:1] in ("{", "["):
            try:
                carried(json.loads(value), texts)
            except ValueError:
                return


@settings(max_examples=400, deadline=None)
@given(
    record=st.sampled_from([record for record in RECORDS if "message" in record]),
    path=paths,
    name=st.sampled_from(NAMES),
    how=st.sampled_from(["set", "insert", "repeat"]),
    nested=st.booleans(),
)
def test_a_value_put_anywhere_is_in_the_landed_record(
    record: dict[str, Any], path: list[int], name: str, how: str, nested: bool
) -> None:
    value = opened(record)
    change(value, how, path, name, {"mark": "m4rk"} if nested else "m4rk")
    line = written(value).encode()
    assume(b"m4rk" in line)

    converted = check(line, NO_CONTEXT)

    texts: set[str] = set()
    carried(json.loads(encode(converted.record)), texts)
    # A signature is a loss that is stated; a stop reason is the flag that it sets.
    message = json.loads(line).get("message")
    is_flag = isinstance(message, dict) and message.get("stop_reason") == "m4rk"
    assert is_flag or converted.record.dropped or any("m4rk" in text for text in texts)


numbers = st.sampled_from([b"1", b"1e400", b"1e999999", b"-1e-400", b"1" * 310, b"0.1", b"true"])
nested = st.recursive(
    numbers | st.sampled_from([b'"[["', b'"\\""', b'"}"']),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: b"[" + b",".join(items) + b"]")
        | inner.map(lambda item: b'{"a":' + item + b',"a":1}')
    ),
    max_leaves=8,
)


@given(value=nested, levels=st.integers(0, 110))
def test_parsed_says_what_strict_says(value: bytes, levels: int) -> None:
    raw = b"[" * levels + value + b"]" * levels
    try:
        expected = strict(raw)
    except NotStrict as error:
        expected = str(error)

    assert parsed(Raw(raw))[1] == expected
