"""Content to parts, and every other member to its place: a table for each rule."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from collectord.adapter import Source
from tests.adapters.claude_code.lines import SESSION, Landed, compact, source_of

Land = Callable[..., Landed]
Parts = list[dict[str, Any]]

PNG = "iVBORw0KGgo="
CALL = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}


def message(*blocks: object, type_: str = "user", **more: object) -> dict[str, object]:
    return {"type": type_, "message": {"role": type_, "content": list(blocks)}, **more}


def result(content: object, **more: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": "t", "content": content, **more}


def content_of(record: Landed) -> Parts:
    """Return the parts without what every one of them has when it is whole."""
    return [
        {key: value for key, value in part.items() if (key, value) != ("state", "available")}
        for part in record["parts"]
    ]


def unknown(text: str, data: object) -> dict[str, Any]:
    raw = compact(data)
    return {"k": "unknown", "text": text, "data": raw.decode(), "bytes": len(raw)}


BLOCKS: list[tuple[object, Parts]] = [
    ({"type": "text", "text": "✅"}, [{"k": "text", "text": "✅", "bytes": 3}]),
    ({"type": "text", "text": ""}, [{"k": "text", "bytes": 0}]),
    ({"type": "thinking", "thinking": "é"}, [{"k": "reasoning", "text": "é", "bytes": 2}]),
    (
        {"type": "thinking", "thinking": ""},
        [{"k": "reasoning", "state": "unavailable", "bytes": 0}],
    ),
    (
        {"type": "redacted_thinking", "data": "abcd"},
        [{"k": "reasoning", "state": "redacted", "bytes": 4}],
    ),
    (CALL, [{"k": "call", "id": "t", "name": "Bash", "data": {"command": "ls"}, "bytes": 16}]),
    (
        {**CALL, "type": "server_tool_use"},
        [{"k": "call", "id": "t", "name": "Bash", "data": {"command": "ls"}, "bytes": 16}],
    ),
    ({**CALL, "input": {}}, [{"k": "call", "id": "t", "name": "Bash", "bytes": 2}]),
    ({"type": "mcp_tool_use", "input": "x"}, [{"k": "call", "data": "x", "bytes": 3}]),
    (result("ok"), [{"k": "result", "of": "t", "text": "ok", "bytes": 2}]),
    (result("no", is_error=True), [{"k": "result", "of": "t", "text": "no", "failed": True, "bytes": 2}]),
    (result("ok", is_error=False), [{"k": "result", "of": "t", "text": "ok", "failed": False, "bytes": 2}]),
    (
        result([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        [{"k": "result", "of": "t", "text": "a\nb", "bytes": 3}],
    ),
    (
        result([{"type": "text", "text": "a"}, {"type": "tool_reference", "tool_name": "x"}]),
        [
            {
                "k": "result",
                "of": "t",
                "text": "a",
                "data": [{"type": "text", "text": "a"}, {"type": "tool_reference", "tool_name": "x"}],
                "bytes": 70,
            }
        ],
    ),
    (
        result([{"type": "text", "text": "a", "citations": []}]),
        [
            {
                "k": "result",
                "of": "t",
                "text": "a",
                "data": [{"type": "text", "text": "a", "citations": []}],
                "bytes": 43,
            }
        ],
    ),
    (
        {"type": "web_search_tool_result", "tool_use_id": "t", "content": {"error_code": "e"}},
        [{"k": "result", "of": "t", "data": {"error_code": "e"}, "bytes": 18}],
    ),
    (result(None), [{"k": "result", "of": "t", "bytes": 0}]),
    (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        [{"k": "media", "media": "image/png", "data": PNG, "bytes": 12}],
    ),
    (
        {"type": "document", "source": {"type": "url", "url": "u"}},
        [{"k": "media", "data": {"type": "url", "url": "u"}, "bytes": 24}],
    ),
    (
        {"type": "fallback", "from": "a"},
        [unknown('block type "fallback" is not one this dialect describes', {"type": "fallback", "from": "a"})],
    ),
    ("x", [unknown("a block that is not an object is not one this dialect describes", "x")]),
    (
        {"type": "text", "text": 5},
        [unknown("a block without a readable `text` keeps its bytes", {"type": "text", "text": 5})],
    ),
    (
        {"type": "image"},
        [unknown("a block without a readable `source` keeps its bytes", {"type": "image"})],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("block", "parts"), BLOCKS)
def test_a_block_is_one_part(land: Land, block: object, parts: Parts) -> None:
    assert content_of(land(message(block))) == parts


def test_every_block_is_taken_in_order(land: Land) -> None:
    blocks = [block for block, _ in BLOCKS]

    assert content_of(land(message(*blocks))) == [part for _, parts in BLOCKS for part in parts]


def test_content_can_be_a_plain_string(land: Land) -> None:
    line = {"type": "user", "message": {"content": "one\ntwo"}}

    assert content_of(land(line)) == [{"k": "text", "text": "one\ntwo", "bytes": 7}]


DROPPED: list[tuple[Sequence[object], list[tuple[str, int]]]] = [
    ([{"type": "thinking", "thinking": "x", "signature": "sé"}], [("reasoning signature", 3)]),
    ([{"type": "thinking", "thinking": "x", "signature": ""}], []),
    ([{"type": "thinking", "thinking": "x", "signature": None}], []),
    ([{"type": "thinking", "thinking": "x", "signature": [1]}], [("reasoning signature", 3)]),
    ([{"type": "redacted_thinking", "data": "abcd"}], [("redacted reasoning", 4)]),
    (
        [{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "redacted_thinking", "data": "d"}],
        [("reasoning signature", 1), ("redacted reasoning", 1)],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("blocks", "dropped"), DROPPED)
def test_a_loss_is_stated(
    land: Land, blocks: Sequence[object], dropped: list[tuple[str, int]]
) -> None:
    found = land(message(*blocks, type_="assistant")).get("dropped", [])

    assert [(entry["what"], entry["bytes"]) for entry in found] == dropped
    assert all(entry["why"] for entry in found)


def test_the_size_of_a_loss_counts_no_white_space(land: Land) -> None:
    block = b'{"type":"thinking","thinking":"x","signature":[ 1, 2 ]}'

    assert land(b'{"message":{"content":[%s]}}' % block)["dropped"][0]["bytes"] == 5


OK = {"k": "result", "of": "t", "text": "ok", "bytes": 2}
RESULTS: list[tuple[Sequence[object], object, Parts]] = [
    ([result("ok")], {"a": 1}, [{**OK, "data": {"a": 1}}]),
    ([result("ok")], {}, [OK]),
    ([result("ok")], None, [OK]),
    ([result("ok")], "ok", [OK]),
    ([result("ok")], "Error: ok", [OK]),
    ([result("ok")], "no", [OK, {"k": "data", "data": "no", "bytes": 4}]),
    ([result("ok")], [1], [OK, {"k": "data", "data": [1], "bytes": 3}]),
    ([result("ok")], 5, [OK, {"k": "data", "data": 5, "bytes": 1}]),
    ([result("")], {"a": 1}, [{"k": "result", "of": "t", "data": {"a": 1}, "bytes": 7}]),
    ([result([{"x": 1}])], {"a": 1}, [{"k": "result", "of": "t", "data": [{"x": 1}], "bytes": 9}, {"k": "data", "data": {"a": 1}, "bytes": 7}]),
    ([result([{"x": 1}])], [{"x": 1}], [{"k": "result", "of": "t", "data": [{"x": 1}], "bytes": 9}]),
    ([result("ok"), result("ok")], {"a": 1}, [OK, OK, {"k": "data", "data": {"a": 1}, "bytes": 7}]),
    ([result("no"), result("ok")], "ok", [{**OK, "text": "no"}, OK]),
    ([], {"a": 1}, [{"k": "data", "data": {"a": 1}, "bytes": 7}]),
    ([result("ok")], {"persistedOutputPath": "/f"}, [{**OK, "data": {"persistedOutputPath": "/f"}, "state": "truncated"}]),
    ([result("ok")], {"persistedOutputSize": 99}, [{**OK, "data": {"persistedOutputSize": 99}, "state": "truncated", "bytes": 99}]),
    ([result("<persisted-output>x")], None, [{**OK, "text": "<persisted-output>x", "state": "truncated", "bytes": 19}]),
]  # fmt: skip


@pytest.mark.parametrize(("blocks", "said", "parts"), RESULTS)
def test_a_structured_result_goes_where_there_is_room(
    land: Land, blocks: Sequence[object], said: object, parts: Parts
) -> None:
    content = blocks or [{"type": "text", "text": "x"}]
    line = message(*content, toolUseResult=said)

    found = content_of(land(line))

    assert found == (parts if blocks else [{"k": "text", "text": "x", "bytes": 1}, *parts])


def test_a_structured_result_may_come_before_its_message(land: Land) -> None:
    line = {"toolUseResult": {"a": 1}, **message(result("ok"))}

    assert content_of(land(line)) == [{**OK, "data": {"a": 1}}]


ATTACHMENTS: list[tuple[object, Parts]] = [
    (
        {"type": "x", "text": "t", "n": 1},
        [{"k": "text", "text": "t", "bytes": 1}, {"k": "data", "data": {"type": "x", "n": 1}, "bytes": 18}],
    ),
    (
        {"type": "x", "content": "c", "n": 1},
        [{"k": "text", "text": "c", "bytes": 1}, {"k": "data", "data": {"type": "x", "n": 1}, "bytes": 18}],
    ),
    (
        {"type": "x", "text": "t", "content": "c"},
        [{"k": "text", "text": "t", "bytes": 1}, {"k": "data", "data": {"type": "x", "content": "c"}, "bytes": 26}],
    ),
    (
        {"type": "x", "text": "t"},
        [{"k": "text", "text": "t", "bytes": 1}, {"k": "data", "data": {"attachment.type": "x"}, "bytes": 23}],
    ),
    ({"text": "t"}, [{"k": "text", "text": "t", "bytes": 1}]),
    ({"type": "x", "content": []}, [{"k": "data", "data": {"type": "x", "content": []}, "bytes": 25}]),
    ("x", [unknown("members this dialect does not describe: attachment", {"attachment": "x"})]),
]  # fmt: skip


@pytest.mark.parametrize(("attachment", "parts"), ATTACHMENTS)
def test_an_attachments_text_is_text_and_the_rest_is_data(
    land: Land, attachment: object, parts: Parts
) -> None:
    assert content_of(land({"type": "attachment", "attachment": attachment})) == parts


WHOLE: list[dict[str, object]] = [
    {"type": type_, "sessionId": SESSION, "novelty": None, "cwd": "/home/dev"}
    for type_ in (
        "queue-operation", "last-prompt", "mode", "permission-mode", "ai-title", "custom-title",
        "agent-name", "pr-link", "summary", "progress", "file-history-snapshot", "bridge-session",
        "system", "api-request", "api-request-shape", "tools-used", "cost-state", "continued-in",
        "fork-context-ref", "atis-latch", "never-heard-of", "user", "assistant", "attachment",
    )
]  # fmt: skip
WHOLE += [
    {"type": "api-request-blob", "message": {"content": "x"}},
    {"type": "system", "message": {"content": "x"}},
    {"type": "user", "message": None},
    {"n": 1},
]


@pytest.mark.parametrize("line", WHOLE)
def test_a_record_without_a_message_is_whole(
    convert: Callable[..., Any], land: Land, line: dict[str, object]
) -> None:
    context = {"cwd": "anything"}

    assert content_of(land(line)) == [{"k": "data", "data": line, "bytes": len(compact(line))}]
    assert convert(line, context=context).context is context
    assert convert(line).unknown_members == 0


TRAILING: list[tuple[dict[str, object], dict[str, object] | None]] = [
    ({"sessionId": SESSION, "session_id": SESSION, "agentId": "main", "isSidechain": False}, None),
    ({"sessionId": "other", "isSidechain": True}, {"sessionId": "other", "isSidechain": True}),
    ({"agentId": "a0"}, {"agentId": "a0"}),
    ({"requestId": "r", "origin": {"kind": "cron"}}, {"requestId": "r", "origin": {"kind": "cron"}}),
    ({"requestId": None, "sessionId": None, "todos": [], "error": ""}, {"todos": [], "error": ""}),
    ({"cwd": "/w", "gitBranch": None, "requestId": "r", "version": "2"}, {"cwd": "/w", "version": "2", "requestId": "r"}),
    ({"type": "novel"}, {"type": "novel", "message.role": "user"}),
    ({"agentName": "n", "subtype": "s", "logicalParentUuid": "u"}, {"agentName": "n", "subtype": "s", "logicalParentUuid": "u"}),
]  # fmt: skip


@pytest.mark.parametrize(("members", "trailing"), TRAILING)
def test_the_trailing_part_holds_environment_then_kept_members(
    land: Land, members: dict[str, object], trailing: dict[str, object] | None
) -> None:
    record = land({"requestRef": "x", **message({"type": "text", "text": "x"}), **members})
    data = record["parts"][-1]["data"]
    data.pop("requestRef")

    assert list(data.items()) == list((trailing or {}).items())


def test_kept_members_of_messages_and_blocks_are_keyed_by_path(land: Land) -> None:
    line = message({"type": "text", "text": "a"}, {**CALL, "caller": {"type": "direct"}})
    line["message"] |= {  # type: ignore[operator]
        "type": "message", "id": "m", "stop_sequence": "s", "container": None,
        "usage": {"input_tokens": 1, "service_tier": "standard", "novelty": [1]},
    }  # fmt: skip

    record = land(line)

    assert record["parts"][-1]["data"] == {
        "message.content.1.caller": {"type": "direct"},
        "message.id": "m",
        "message.stop_sequence": "s",
        "message.usage.service_tier": "standard",
        "message.usage.novelty": [1],
    }


def test_the_environment_is_stated_once_a_file_and_in_full_when_it_changes(
    convert: Callable[..., Any], land: Land
) -> None:
    def line(**members: object) -> dict[str, object]:
        return {"type": "user", "message": {"content": "x"}, **members}

    first = convert(line(cwd="/a", version="1"))
    same = convert(line(cwd="/a"), context=first.context)
    other = convert(line(version="2", cwd="/a"), context=same.context)

    assert land(line(cwd="/a", version="1"))["parts"][1]["data"] == {"cwd": "/a", "version": "1"}
    assert same.context is first.context
    assert len(same.record.parts) == 1
    assert bytes(other.record.parts[1].data) == b'{"version":"2","cwd":"/a"}'
    assert {key: bytes(value) for key, value in other.context.items()} == {
        "cwd": b'"/a"',
        "version": b'"2"',
    }
    assert dict(first.context)["version"] == convert(line(version="1")).context["version"]


UNKNOWN: list[tuple[bytes, dict[str, object]]] = [
    (b'{"type":"user","message":{"content":"x"},"novelty":null}', {"novelty": None}),
    (b'{"type":"user","message":{"content":"x","n":1,"usage":5}}', {"message.n": 1, "message.usage": 5}),
    (b'{"type":"user","message":{"content":{"a":1}}}', {"message.content": {"a": 1}}),
    (b'{"type":"user","message":[1]}', {"message": [1]}),
    (b'{"type":"user","message":{"content":[{"type":"text","text":"x","n":1}]}}', {"message.content.0.n": 1}),
    (b'{"type":"user","message":{"content":[{"type":"text","text":"x","text":"y"}]}}', {"message.content.0.text": "x"}),
    (b'{"type":"user","message":{"content":[{"type":"text","t\\u0065xt":"x","n":1}]}}', {"message.content.0.n": 1}),
    (b'{"type":"user","message":{"content":[{"type":"text","text":"x","n":{ "a" : 1 }}]}}', {"message.content.0.n": {"a": 1}}),
    (b'{"type":"user","message":{"content":"x"},"uuid":5,"isMeta":"yes"}', {"uuid": 5, "isMeta": "yes"}),
    (b'{"type":"user","message":{"content":"x"},"uuid":"a","uuid":"b"}', {"uuid": "a"}),
    (b'{"type":"user","message":{"content":"x","content":"y"}}', {"message.content": "x"}),
    (b'{"type":"user","message":{"content":"x"},"n\\u0065w":1}', {"new": 1}),
    (b'{"type":"user","message":{"content":"x"},"error":1e400}', {"error": None}),
    (b'{"type":"user","message":{"content":"x"},"cwd":1e400}', {"cwd": None}),
    (b'{"type":"assistant","message":{"content":"x","id":5,"model":[],"stop_reason":1}}', {"message.id": 5, "message.model": [], "message.stop_reason": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "members"), UNKNOWN)
def test_what_no_list_names_keeps_its_bytes_and_is_counted(
    convert: Callable[..., Any], land: Land, line: bytes, members: dict[str, object]
) -> None:
    import orjson

    part = land(line)["parts"][-1]

    assert part["k"] == "unknown"
    assert part["bytes"] == len(part["data"])
    assert part["text"].endswith(", ".join(members))
    assert orjson.loads(part["data"].replace("1e400", "null")) == members
    assert convert(line).unknown_members == len(members)


def test_a_records_own_stream_is_said_by_the_header(land: Land) -> None:
    line = message({"type": "text", "text": "x"}, agentId="a0", isSidechain=True)

    assert land(line, source_of(stream="a0"))["parts"][-1]["data"] == {"isSidechain": True}


def test_what_the_header_says_depends_on_the_source_alone(convert: Callable[..., Any]) -> None:
    """The same line again, in other files: what was remembered of the first does not hold."""
    line = message({"type": "text", "text": "x"}, sessionId=SESSION, agentId="a0", cwd="/")
    own = source_of(stream="a0")
    context = convert(line, own).context

    def parts(source: Source) -> list[str]:
        return [part.k for part in convert(line, source, context).record.parts]

    for _ in range(2):
        assert parts(own) == ["text"]
        assert parts(own._replace(session="other")) == ["text", "data"]
        assert parts(own._replace(stream="a1")) == ["text", "data"]
        assert parts(own) == ["text"]


EMPTY: list[tuple[dict[str, object], dict[str, object]]] = [
    ({"type": "user", "message": {"content": []}}, {"message.content": []}),
    ({"type": "user", "message": {}}, {"message": {}}),
    ({"type": "user", "message": {"model": "m"}}, {"message": {"model": "m"}}),
    ({"type": "user", "message": {"content": None}}, {"message": {"content": None}}),
]


@pytest.mark.parametrize(("line", "trailing"), EMPTY)
def test_a_record_is_never_without_a_part(
    land: Land, line: dict[str, object], trailing: dict[str, object]
) -> None:
    assert content_of(land(line)) == [
        {"k": "data", "data": trailing, "bytes": len(compact(trailing))}
    ]
