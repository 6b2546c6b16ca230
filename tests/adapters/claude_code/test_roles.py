"""Role fields, flags and triggers: a table for each rule of the dialect page."""

from collections.abc import Callable
from typing import Any

import pytest

from collectord.adapter import Source
from collectord.sessiondata import Kind
from tests.adapters.claude_code.lines import Landed, source_of

Land = Callable[..., Landed]

AGENT = "a0123456789abcdef"


def user(content: object = "x", **more: object) -> dict[str, object]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(**message: object) -> dict[str, object]:
    content = [{"type": "text", "text": "x"}]
    return {"type": "assistant", "message": {"role": "assistant", "content": content, **message}}


def system(subtype: object, **more: object) -> dict[str, object]:
    return {"type": "system", "subtype": subtype, **more}


def attachment(**members: object) -> dict[str, object]:
    return {"type": "attachment", "attachment": members}


def result(said: object) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    return user([block], toolUseResult=said)


def notification(task: str) -> str:
    return (
        f"<task-notification>\n<task-id>{task}</task-id>\n"
        "<tool-use-id>toolu_9</tool-use-id>\n</task-notification>"
    )


ROLES: list[tuple[dict[str, object], str, object]] = [
    (user(uuid="u"), "id", "u"),
    (user(uuid=None), "id", None),
    (user(parentUuid="p"), "parent", "p"),
    (user(promptId="r"), "run", "r"),
    (user(timestamp="2026-01-01T00:00:00.1Z"), "time", "2026-01-01T00:00:00.1Z"),
    (user(timestamp="2026-01-01T00:00:00+02:00"), "time", "2026-01-01T00:00:00+02:00"),
    (user(timestamp="yesterday"), "time", None),
    (assistant(id="msg_1"), "call", "msg_1"),
    (user() | {"message": {"role": "user", "content": "x", "id": "msg_1"}}, "call", None),
    (assistant(model="m"), "model", "m"),
    (assistant(), "from", "agent"),
    (user(), "from", "external"),
    (result({}), "from", "external"),
    (system("x"), "from", "runtime"),
    (attachment(type="x"), "from", "runtime"),
    ({"message": {"content": "x"}}, "from", "runtime"),
    ({"type": ["user"], "message": {"content": "x"}}, "from", "runtime"),
    (system("compact_boundary", logicalParentUuid="u"), "continues", "u"),
    (system("other", logicalParentUuid="u"), "continues", None),
    (user(logicalParentUuid="u"), "continues", None),
    (result({"toolUseId": "toolu_1"}), "tool", "toolu_1"),
    (result({"toolUseId": 5}), "tool", None),
    (result("toolUseId"), "tool", None),
    (result({"agentId": AGENT}), "child", AGENT),
    (result({"runId": "wf_1"}), "batch", "wf_1"),
    (user(notification(AGENT)), "tool", "toolu_9"),
    (user(notification(AGENT)), "child", AGENT),
    (user(notification("1a2b3c4d")), "child", "1a2b3c4d"),
    (user(notification("bl7gg1r1t")), "child", None),
    (user([{"type": "text", "text": notification(AGENT)}]), "child", None),
    (user("He wrote " + notification(AGENT)), "child", None),
    (user(notification(AGENT)) | {"toolUseResult": {"agentId": "b1"}}, "child", "b1"),
    ({"type": "ai-title", "aiTitle": "T"}, "label", "T"),
    ({"type": "custom-title", "customTitle": "T"}, "label", "T"),
    ({"type": "agent-name", "agentName": "T"}, "label", "T"),
    ({"type": "summary", "summary": "T"}, "label", "T"),
    ({"type": "mode", "summary": "T"}, "label", None),
    (user(agentName="T"), "label", None),
    (user(description="T"), "label", None),
    (user(origin={"kind": "human"}), "trigger", "external"),
    (user(origin={"kind": "task-notification"}), "trigger", "notification"),
    (user(origin={"kind": "cron"}), "trigger", "unknown"),
    (user(origin={"kind": 5}), "trigger", "unknown"),
    (user(origin={}), "trigger", None),
    (user(origin="human"), "trigger", None),
    (attachment(type="x", origin={"kind": "human"}), "trigger", "external"),
    (user(promptSource="sdk"), "trigger", "external"),
    (user(promptSource="sdk", origin={"kind": "cron"}), "trigger", "unknown"),
    (user(promptSource="sdk", isMeta=True), "trigger", None),
    (user(promptSource="typed"), "trigger", None),
    (assistant() | {"promptSource": "sdk"}, "trigger", None),
    (user(), "trigger", None),
]


@pytest.mark.parametrize(("line", "field", "value"), ROLES)
def test_a_role_is_what_the_page_says(
    land: Land, line: dict[str, object], field: str, value: object
) -> None:
    assert land(line).get(field) == value


USAGE: list[tuple[object, object]] = [
    (
        {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 4,
        },
        {"in": 1, "out": 2, "cache_read": 3, "cache_write": 4},
    ),
    ({"input_tokens": 0}, {"in": 0}),
    ({"output_tokens": 1.5}, {"out": 1.5}),
    ({"output_tokens": "many", "input_tokens": None}, None),
    ({"output_tokens": 1 << 63, "input_tokens": (1 << 63) - 1}, {"in": (1 << 63) - 1}),
    ({"output_tokens": True}, None),
    ({"service_tier": "standard"}, None),
    ({}, None),
    (None, None),
    ("none", None),
]


@pytest.mark.parametrize(("usage", "landed"), USAGE)
def test_a_count_is_there_only_when_it_is_a_number(
    land: Land, usage: object, landed: object
) -> None:
    assert land(assistant(usage=usage)).get("usage") == landed


def test_numbers_repeated_elsewhere_are_no_usage(land: Land) -> None:
    line = {"type": "cost-state", "usage": {"input_tokens": 1}, "modelUsage": {}}

    assert "usage" not in land(line)


FLAGS: list[tuple[dict[str, object], list[str]]] = [
    (assistant(), []),
    (assistant(model="<synthetic>"), ["synthetic"]),
    (assistant(stop_reason="end_turn"), ["finished"]),
    (assistant(stop_reason="end_turn", model="<synthetic>"), ["synthetic", "finished"]),
    (assistant(stop_reason=None), []),
    (assistant(stop_reason=""), []),
    (assistant(stop_reason=5), []),
    (user() | {"message": {"content": "x", "stop_reason": "y", "model": "<synthetic>"}}, []),
    (system("compact_boundary"), ["context_reset"]),
    (system("api_error"), ["error"]),
    (system("turn_duration"), ["turn_duration"]),
    (system("local_command"), ["command"]),
    (system("never_heard_of"), ["notice"]),
    (system(None), ["notice"]),
    (system("api_error", isMeta=True), ["injected", "error"]),
    (user(isCompactSummary=True), ["reset_summary"]),
    (user(isCompactSummary=False), []),
    (result({"status": "async_launched"}), ["launch_ack"]),
    (result({"status": "completed", "agentId": AGENT}), ["child_result"]),
    (result({"status": "running"}), []),
    (attachment(type="queued_command", commandMode="prompt"), ["external_input"]),
    (attachment(type="queued_command", commandMode="bash"), ["injected"]),
    (attachment(type="file"), ["injected"]),
    (attachment(type="prompt_snapshot"), ["injected", "system_prompt", "tool_schemas"]),
    (attachment(type="queued_command", commandMode="prompt") | {"isMeta": True}, ["injected"]),
    ({"type": "api-request-shape", "shape": {}}, ["system_prompt", "tool_schemas"]),
    (user(origin={"kind": "human"}), ["external_input"]),
    (user(origin={"kind": "human"}, isMeta=True), ["injected"]),
    (user(origin={"kind": "cron"}, promptSource="sdk"), []),
    (user(promptSource="sdk"), ["external_input"]),
    (user(promptSource="sdk", isMeta=True), ["injected"]),
    (user(isMeta=True), ["injected"]),
    (user(isMeta=False), []),
    (assistant() | {"origin": {"kind": "human"}}, []),
]


@pytest.mark.parametrize(("line", "flags"), FLAGS)
def test_flags_are_what_the_page_says_in_the_formats_order(
    land: Land, line: dict[str, object], flags: list[str]
) -> None:
    assert land(line).get("flags", []) == flags


META = source_of(Kind.AGENT_META, "a0", "wf_1")
JOURNAL = source_of(Kind.JOURNAL, "", "wf_1")
MANIFEST = source_of(Kind.WORKFLOW_MANIFEST, "", "wf_1")

DOCUMENTS: list[tuple[Source, dict[str, object], dict[str, object]]] = [
    (
        META,
        {"description": "d", "toolUseId": "t", "parentAgentId": "p", "timestamp": "2026-01-01T00:00:00Z"},
        {"child": "a0", "tool": "t", "started_by": "p", "label": "d", "batch": "wf_1", "from": "runtime"},
    ),
    (META, {"agentId": "a1"}, {"child": "a1", "batch": "wf_1", "from": "runtime"}),
    (
        JOURNAL,
        {"type": "started", "agentId": "a1", "label": "w", "timestamp": "2026-01-01T00:00:00Z"},
        {"child": "a1", "batch": "wf_1", "from": "runtime", "time": "2026-01-01T00:00:00Z"},
    ),
    (
        JOURNAL,
        {"type": "result", "agentId": "a1", "result": None},
        {"child": "a1", "batch": "wf_1", "from": "runtime", "flags": ["child_result"]},
    ),
    (
        JOURNAL,
        {"type": "user", "origin": {"kind": "human"}, "message": {"content": "x"}},
        {"batch": "wf_1", "from": "runtime", "trigger": "external"},
    ),
    (
        MANIFEST,
        {"runId": "wf_2", "workflowName": "n", "timestamp": "2026-01-01T00:00:00Z"},
        {"batch": "wf_2", "label": "n", "from": "runtime"},
    ),
    (MANIFEST, {"status": "running"}, {"batch": "wf_1", "from": "runtime"}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "document", "roles"), DOCUMENTS)
def test_a_document_and_a_journals_line_are_whole_with_their_roles(
    land: Land, source: Source, document: dict[str, object], roles: dict[str, object]
) -> None:
    record = land(document, source)
    parts: list[dict[str, Any]] = record.pop("parts")

    assert [(part["k"], part["data"]) for part in parts] == [("data", document)]
    assert {key: record[key] for key in record.keys() - {"ord", "off", "sha", "bytes"}} == roles


def test_a_child_of_a_run_says_its_run(land: Land) -> None:
    source = source_of(stream="a0", batch="wf_1")

    assert land(user(), source)["batch"] == "wf_1"
    assert land(result({"runId": "wf_2"}), source)["batch"] == "wf_2"


def test_a_program_is_one_unknown_part(land: Land) -> None:
    source = source_of(Kind.WORKFLOW_SCRIPT, "", "wf_1")

    record = land(b"return 1", source)

    assert (record["from"], record["batch"]) == ("runtime", "wf_1")
    assert record["parts"] == [
        {
            "k": "unknown",
            "text": "the source is a program, not data",
            "data": "return 1",
            "state": "available",
            "bytes": 8,
        }
    ]
    assert land(b"\xe9", source)["parts"][0]["encoding"] == "base64"
