"""
The quick way through a usual line says what the careful way says, or nothing.

Real records are changed as in `test_property`; the environment has been stated before,
as it has for all but the first line of a file, because else no line is a usual one.
"""

from functools import lru_cache
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from msgspec import Raw

from collectord.adapter import NO_CONTEXT, Context, Converted, Source
from collectord.sessiondata import encode
from collectord_adapters.claude_code import ADAPTER
from collectord_adapters.claude_code.usual import usual_line
from collectord_adapters.claude_code.usual.values import end_of_object, kept_piece
from tests.adapters.claude_code.lines import SESSION, compact, raw_of, source_of
from tests.adapters.claude_code.test_property import (
    GOLDEN,
    JUNK,
    NAMES,
    RECORDS,
    change,
    changes,
    damage,
    damages,
    opened,
    paths,
    written,
)
from tests.golden.regenerate import raws_of, sources_of

SPOKEN = [r for r in RECORDS if r.get("type") in ("assistant", "user", "attachment")]

USAGE = {"input_tokens": 1, "cache_creation": {"a": 0}, "output_tokens": None, "service_tier": "s"}
BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": 'a\n"b"\t\\ ü \U0001f600 \x1b'},
    {"type": "thinking", "thinking": "", "signature": "c2ln"},
    {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls", "n": [1, {"a": 2}]}},
    {"type": "tool_use", "id": "t", "name": "X", "input": {"o": {"long": "x" * 300, "l": []}},
     "caller": {"type": "direct"}},
    {"type": "tool_result", "tool_use_id": "t", "content": "x\\y", "is_error": False},
    {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}]},
]  # fmt: skip
RESULTS: list[object] = [
    None,
    {"stdout": "x", "n": 12, "ok": True, "in": {"a": ["b"]}, "f": 1.5},
    {"status": "completed", "agentId": "a", "toolUseId": "t", "runId": "w"},
    {"status": "async_launched", "agentId": None, "x": [1]},
    "Error: x\\y",
    'x "other" / ü \U0001f600 \x1b\n',
]


def line_of(block: dict[str, Any], result: object) -> dict[str, Any]:
    """Return a line as the runtime writes it, with *block*."""
    is_user = block["type"] == "tool_result"
    message: dict[str, Any] = {"role": "user", "content": [block]}
    if not is_user:
        message = {
            "model": "m", "id": "msg", "type": "message", "role": "assistant", "content": [block],
            "stop_reason": "tool_use", "stop_sequence": None, "usage": USAGE,
        }  # fmt: skip
    line = {
        "parentUuid": "p", "isSidechain": True, "userType": "external", "cwd": "/w",
        "sessionId": SESSION, "version": "2", "type": "user" if is_user else "assistant",
        "message": message, "requestId": "r", "uuid": "u", "timestamp": "2026-01-02T03:04:05.678Z",
    }  # fmt: skip
    if is_user and result is not None:
        line["toolUseResult"] = result
        line["sourceToolAssistantUUID"] = "s"
    return line


def prompt_of(prompt: str) -> dict[str, Any]:
    """Return a line as the runtime writes it, with a plain string as its content."""
    line = line_of({"type": "tool_result"}, None)
    return {**line, "message": {"role": "user", "content": prompt}, "promptId": "q"}


def attached(attachment: dict[str, Any]) -> dict[str, Any]:
    """Return a line as the runtime writes it, with *attachment*."""
    line = line_of({"type": "text"}, None)
    names = ("parentUuid", "isSidechain", "cwd", "sessionId", "version", "uuid", "timestamp")
    made = {name: line[name] for name in names[:-2]}
    made |= {"type": "attachment", "attachment": attachment}
    return made | {name: line[name] for name in names[-2:]}


ATTACHMENTS: list[dict[str, Any]] = [
    {"type": "diagnostics", "content": 'a\n"b" ü', "itemCount": 21, "ö": [{"a": None}]},
    {"type": "critical", "content": "only"},
    {"type": "notes", "text": "first", "content": "second"},
    {"type": "date", "names": ["a", {"b": 1.5}], "content": None},
]
MADE = [
    *map(attached, ATTACHMENTS),
    *(line_of(block, result) for block in BLOCKS for result in RESULTS),
    *(prompt_of(prompt) for prompt in ("", "go", 'a\n"b"\t\\ / ü \U0001f600 \x1b\x7f')),
]
STATED: Context = {"userType": Raw(b'"external"'), "cwd": Raw(b'"/w"'), "version": Raw(b'"2"')}


@lru_cache
def one_source(session: str) -> Source:
    """Return the same source each time: what is remembered of a line is of its source."""
    return source_of()._replace(session=session)


def careful(line: bytes, context: Context, session: str = SESSION) -> Converted:
    """Return what the careful way, which an audit takes, makes of *line*."""
    return ADAPTER.dialect.convert(raw_of(line), one_source(session), context, audit=True)


def quick(line: bytes, context: Context, session: str = SESSION) -> Converted | None:
    try:
        line.decode()
    except UnicodeDecodeError:
        return None
    return usual_line(line, raw_of(line), one_source(session), context)


def agree(line: bytes, context: Context, session: str = SESSION) -> bool:
    """Check that both ways agree on *line*; return whether the quick way took it."""
    found, expected = quick(line, context, session), careful(line, context, session)
    if found is None:
        return False
    assert found.record == expected.record
    assert encode(found.record) == encode(expected.record)
    assert found.context is expected.context is context
    assert found.unknown_members == expected.unknown_members == 0
    return True


@pytest.mark.parametrize("line", MADE)
def test_what_the_runtime_writes_all_day_is_usual(line: dict[str, Any]) -> None:
    assert agree(compact(line), STATED)


def test_most_lines_of_the_real_program_are_usual() -> None:
    taken = spoken = 0
    for source in sources_of(ADAPTER, GOLDEN / "client-2.1.197" / "projects"):
        context: Context = NO_CONTEXT
        for raw in raws_of(source):
            assert raw.data is not None
            converted = ADAPTER.dialect.convert(raw, source, context, audit=True)
            found = usual_line(raw.data, raw, source, context)
            if found is not None:
                assert found.record == converted.record
            if b'"content":[' in raw.data:
                spoken += 1
                taken += found is not None
            context = converted.context
    assert taken > spoken // 2


CHANGED: list[tuple[bytes, bytes]] = [
    (b'"uuid":"u"', b'"uuid": "u"'),
    (b'"uuid":"u"', b'"uuid":"u","uuid":"v"'),
    (b'"uuid":"u"', b'"\\u0075uid":"u"'),
    (b'"uuid":"u"', b'"uuid":5'),
    (b'"uuid":"u"', b'"uuid":"u","novelty":1'),
    (b'"model":"m"', b'"model":"<synthetic>"'),
    (b'"model":"m"', b'"model":"m","novelty":1'),
    (b'"model":"m"', b'"model":"m","model":"m"'),
    (b'"role":"assistant"', b'"role":"user"'),
    (b'"type":"message"', b'"type":"other"'),
    (b'"content":[{', b'"content":[ {'),
    (b'"content":[{', b'"content":[{},{'),
    (b'"content":[{', b'"content":[{"type":"text","text":null},{'),
    (b'"stop_reason":"tool_use"', b'"stop_reason":5'),
    (b'"stop_sequence":null', b'"stop_sequence":"x"'),
    (b'"input_tokens":1', b'"input_tokens":1.0'),
    (b'"input_tokens":1', b'"input_tokens":%d' % (1 << 70)),
    (b'"input_tokens":1', b'"input_tokens":1,"input_tokens":2'),
    (b'"cache_creation":{', b'"cache_creation":{ '),
    (b'"cache_creation":{', b'"cache_creation":{"x":1e400,'),
    (b'"input":{', b'"input":{"n":1e400,'),
    (b'"input":{', b'"input":{"n":1E4,'),
    (b'"input":{', b'"input":{"n":{"a":1,"a":2},'),
    (b'"input":{', b'"input":{"n":[ 1],'),
    (b'"input":{', b'"input":{"n":%s,' % (b"[" * 99 + b"]" * 99)),
    (b'"input":{', b'"input":{"n":%s,' % (b"[" * 100 + b"]" * 100)),
    (b'"input":{', b'"input":{"\\u006e":1,'),
    (b'"input":{"', b'"input":{"command":"ls","'),
    (b'"stop_sequence":null', b'"stop_sequence":null,"stop_details":[ ]'),
    (b'"requestId":"r"', b'"requestId":"r","todos":[ ]'),
    (b'"long":"', b'"deep": {"a":1},"long":"'),
    (b'"signature":"', b'"signature":"\\/'),
    (b'"text":"', b'"text":"\\ud83d'),
    (b'"text":"', b'"text":"<persisted-output>'),
    (b'"content":"', b'"content":"<persisted-output>'),
    (b'"is_error":false', b'"is_error":"no"'),
    (b'[{"type":"text","text":"x"}]', b'[{"type":"text","text":"x"},{"type":"image"}]'),
    (b'[{"type":"text","text":"x"}]', b'[{"type":"text", "text":"x"}]'),
    (b'[{"type":"text","text":"x"}]', b'[{"type":"text","text":"x","x":1}]'),
    (b'[{"type":"text","text":"x"}]', b"[]"),
    (b'"stdout":"x"', b'"status":"completed","agentId":"a"'),
    (b'"stdout":"x"', b'"persistedOutputSize":5'),
    (b'"type":"critical"', b'"type":"prompt_snapshot"'),
    (b'"type":"critical"', b'"type":"queued_command","commandMode":"prompt"'),
    (b'"type":"critical"', b'"type":"queued_\\u0063ommand","commandMode":"prompt"'),
    (b'"type":"critical"', b'"type":null'),
    (b'"type":"critical"', b'"type":{"a": 1}'),
    (b'"type":"critical",', b""),
    (b'"type":"critical"', b'"type":"a","type":"b"'),
    (b'"type":"critical"', b'"type":"a","origin":{"kind":"human"}'),
    (b'"type":"attachment"', b'"type":"user"'),
    (b'"type":"attachment"', b'"type":"system"'),
    (b'"type":"attachment"', b'"type":"attachment","message":{"role":"user","content":"x"}'),
    (b'"type":"attachment"', b'"type":"attachment","toolUseResult":"x"'),
    (b'"itemCount":21', b'"itemCount": 21'),
    (b'"itemCount":21', b'"itemCount":1e400'),
    (b'"itemCount":21', b'"itemCount":1E2'),
    (b'"itemCount":21', b'"itemCount":21,"itemCount":22'),
    (b'"content":"only"', b'"content":"only","text":""'),
    (b'"content":"only"', b'"content":"\\ud83d"'),
    (b'"content":"only"', b'"content":5'),
    (b'"names":[', b'"names":[ '),
    (b'"attachment":{', b'"attachment":{"":null,'),
    (b'"status":"completed"', b'"status":5'),
    (b'"status":"completed"', b'"status":"completed","persistedOutputPath":"p"'),
    (b'"toolUseResult":"', b'"toolUseResult":"\\u0041'),
    (b'"toolUseResult":"', b'"toolUseResult":"\\/'),
    (b'"toolUseResult":"', b'"toolUseResult":"\x01'),
    (b'"content":"go"', b'"content":"\\u0041"'),
    (b'"content":"go"', b'"content":"<task-notification><task-id>a0123456789abcdef</task-id>"'),
    (b'"content":"go"', b'"content":null'),
    (b'"content":"go"', b'"content": "go"'),
    (b'"promptId":"q"', b'"promptId":null'),
    (b'"promptId":"q"', b'"promptId":"\xc3\xbc"'),
    (b'"parentUuid":"p"', b'"parentUuid":null'),
    (b'"id":"t","name"', b'"name":"t","id"'),
    (b'"id":"t",', b'"id":"\\u0074",'),
    (b'"id":"t",', b'"id":null,'),
    (b'"type":"thinking"', b'"type":"text"'),
    (b'"signature":"c2ln"', b'"signature":null'),
    (b'"caller":{"type":"direct"}', b'"caller":null'),
    (b'"caller":{"type":"direct"}', b'"caller":{"type": "direct"}'),
    (b'"caller":{"type":"direct"}', b'"caller":{"type":"%s"}' % (b"x" * 200)),
    (b'"is_error":false', b'"is_error":null'),
    (b'"is_error":false', b'"is_error":true'),
    (b'"id":"msg",', b""),
    (b'"n":12', b'"n":1e400'),
    (b'"timestamp":"2026', b'"timestamp":"x2026'),
    (b'"isSidechain":true', b'"isSidechain":{"a": 1}'),
    (b'"isSidechain":true', b'"isSidechain":true,"isMeta":true'),
    (b'"isSidechain":true', b'"isSidechain":true,"isMeta":false'),
    (b'"isSidechain":true', b'"isSidechain":true,"origin":{"kind":"human"}'),
    (b'"isSidechain":true', b'"isSidechain":true,"promptSource":"sdk"'),
    (b'"cwd":"/w"', b'"cwd":"/x"'),
    (b'"cwd":"/w"', b'"cwd":null'),
    (SESSION.encode(), b"another"),
]


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_both_ways_agree_on_a_line_that_differs_in_one_thing(old: bytes, new: bytes) -> None:
    changed = 0
    for usual in MADE:
        line = compact(usual)
        if old not in line:
            continue
        changed += 1
        # Before and after a usual one: what is remembered of that must not be taken for this.
        agree(line.replace(old, new), STATED)
        agree(line, STATED)
        agree(line.replace(old, new), STATED)
    assert changed


@settings(max_examples=500, deadline=None)
@given(
    record=st.sampled_from(SPOKEN + MADE),
    changed=changes,
    damaged=damages,
    space=st.sampled_from(["", "", "", "", " "]),
)
def test_both_ways_agree_on_any_line(
    record: dict[str, Any],
    changed: list[tuple[str, list[int], str, object]],
    damaged: list[tuple[str, int, bytes]],
    space: str,
) -> None:
    session = record.get("sessionId", SESSION)
    context = careful(written(record).encode(), NO_CONTEXT, session).context
    agree(written(record).encode(), context, session)
    value = opened(record)
    for how, path, name, junk in changed:
        change(value, how, path, name, junk)
    line = written(value, space).encode()
    for harm, at, with_ in damaged:
        line = damage(line, harm, at, with_)
    if line.strip(b" \t\r"):
        event("usual" if agree(line, context, session) else "not usual")


@settings(max_examples=500, deadline=None)
@given(
    record=st.sampled_from(MADE),
    how=st.sampled_from(["set", "delete", "rename", "repeat", "insert"]),
    place=st.sampled_from(["message", "content", "usage", "block", "input", "result"]),
    path=paths,
    name=st.sampled_from(NAMES),
    junk=st.sampled_from(JUNK),
)
def test_both_ways_agree_wherever_a_line_is_changed(
    record: dict[str, Any], how: str, place: str, path: list[int], name: str, junk: object
) -> None:
    line = opened(record)
    message = dict(line).get("message") or dict(line)["attachment"]
    content = dict(message).get("content")
    block = content[0] if isinstance(content, list) else []
    holder = {
        "message": message,
        "content": content,
        "usage": dict(message).get("usage"),
        "block": block,
        "input": dict(block).get("input"),
        "result": dict(line).get("toolUseResult"),
    }[place]
    if holder and not isinstance(holder, str):
        change(holder, how, path, name, junk)
    event("usual" if agree(written(line).encode(), STATED) else "not usual")


@given(junk=st.sampled_from([None, True, 0, 1.5, "", "{", [], {}, ["x", {"a": [1, -2]}]]))
def test_the_end_of_an_object_is_where_it_ends(junk: object) -> None:
    view = compact({"a": junk, "b": {"long": "x" * 300, "c": junk}})
    members = {"a": Raw(compact(junk)), "b": Raw(view[view.index(b'"b":') + 4 : -1])}

    assert end_of_object(view, 0, members) == len(view)


def test_a_null_is_not_kept() -> None:
    assert kept_piece(b'"x":', Raw(b"null")) == b""
    assert kept_piece(b'"x":', Raw(b"1")) == b'"x":1'
