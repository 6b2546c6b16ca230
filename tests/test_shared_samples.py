"""
Real sessions, from a folder beside the checkout: skipped where that is not there.

``COLLECTORD_SHARED`` names it, else it is ``../shared``. The expectations for the peer
files are written by hand from the dialect's page, not taken from what we land.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from collectord.adapter import Plugin
from collectord.audit import against_sources
from collectord.config import Config, Landing
from collectord.pipeline import Surroundings, assemble, collect_once
from collectord.sessiondata import Header, Record, open_sd, record_problems
from collectord_adapters.claude_code import ADAPTER
from tests.landed import check_numbers, leftovers
from tests.parsers import NODE, landed_files, read_by_node, read_by_python

SHARED = Path(
    os.environ.get("COLLECTORD_SHARED") or Path(__file__).resolve().parents[1] / ".." / "shared"
)
SAMPLES = SHARED / "samples" / "claude-code"
PEER = SHARED / "peer" / "claude-code"

pytestmark = pytest.mark.skipif(
    not (SAMPLES.is_dir() and PEER.is_dir()), reason=f"no sample sessions in {SHARED}"
)


def sample_roots() -> list[Path]:
    """Return every root of Claude Code below the samples."""
    if not SAMPLES.is_dir():
        return []
    return [Path(root) for below in (SAMPLES, PEER) for root in ADAPTER.roots_at(below)]


def surroundings(tmp: Path, path: Path) -> Surroundings:
    return Surroundings(
        Config(landing=Landing(root=tmp / "root")),
        tmp / "state",
        [Plugin("claude-code", ADAPTER, "tests 0")],
        (path,),
        {},
        tmp / "nobody",
    )


def test_there_are_samples() -> None:
    roots = sample_roots()
    assert len(roots) >= 5 and PEER.resolve() in [root.resolve() for root in roots]


@pytest.mark.parametrize("path", sample_roots(), ids=lambda path: path.parent.parent.name)
def test_a_root_is_collected_once_and_every_byte_accounted_for(quick_tmp: Path, path: Path) -> None:
    around = surroundings(quick_tmp, path)
    with assemble(around) as assembly:
        first = collect_once(assembly)
    assert first.failures == [] and first.records > 0
    with assemble(around) as assembly:
        second = collect_once(assembly)
    assert (second.failures, second.records, second.opened) == ([], 0, 0)
    root = quick_tmp / "root"
    check_numbers(root)
    assert leftovers(root) == []

    audit = against_sources(around._replace(paths=()))  # the landing root remembers where it was
    findings = [str(found) for source in audit for found in source.findings]
    assert findings == []
    assert audit.records == audit.landed == audit.compared == first.records
    assert audit.total.difference == 0

    paths = landed_files(root)
    lines = read_by_python(paths)
    assert lines == first.records + len(paths)
    if NODE is not None:
        assert read_by_node(paths) == lines
    for each in paths:
        with open_sd(each) as sd:
            assert [problem for record in sd for problem in record_problems(record)] == []


class Row(NamedTuple):
    """What one line of the peer's files has to become."""

    from_: str
    parts: str
    """Kinds of the parts; ``data`` at the end of a message is the trailing part."""
    flags: str = ""
    trigger: str = ""
    roles: str = ""
    """The other role fields that are set, as ``field=value``."""
    dropped: str = ""


SESSION = "00000001-0000-4000-8000-000000000001"
UPPER = "00000002-0000-4000-8000-00000000000A"
CHECKER = "a0000001aaaa00001"
STEP = "a0000001bbbb00002"
RUN = "wf_buildcheck"
MODEL = "model=claude-opus-5"

TABLE: dict[tuple[str, str, str, str], list[Row]] = {
    (SESSION, "transcript", "main", ""): [
        Row("runtime", "data"),
        Row("runtime", "data"),
        Row("external", "text data", "external_input", "external", "id=turn1-human-input run=cycle1-human"),
        Row("runtime", "data", "injected", "", "id=turn1-injected-skills parent=turn1-human-input"),
        Row(
            "agent",
            "reasoning/unavailable data",
            "",
            "",
            f"id=call1-frag1-thinking parent=turn1-injected-skills call=call1 {MODEL} usage=2/50/900/100",
            "reasoning signature 3",
        ),
        Row("agent", "text data", "", "", f"id=call1-frag2-text parent=call1-frag1-thinking call=call1 {MODEL} usage=2/50/900/100"),
        Row("agent", "call:Bash data", "finished", "", f"id=call1-frag3-tooluse parent=call1-frag2-text call=call1 {MODEL} usage=2/50/900/100"),
        Row("external", "result:tool-run-make-build data", "", "", "id=tool-result-make-build parent=call1-frag3-tooluse run=cycle1-human"),
        Row("agent", "call:WebSearch data", "finished", "", f"id=call2-websearch parent=tool-result-make-build call=call2 {MODEL} usage=2/10/900/100"),
        Row("external", "result:srvtool-websearch data", "", "", "id=tool-result-websearch parent=call2-websearch run=cycle1-human"),
        Row("agent", "call:Agent data", "finished", "", f"id=call3-spawn-checker parent=tool-result-websearch call=call3 {MODEL} usage=2/20/900/100"),
        Row("external", "result:tool-spawn-checker data", "launch_ack", "", f"id=spawn-launch-ack parent=call3-spawn-checker run=cycle1-human child={CHECKER}"),
        Row("external", "text data", "", "notification", f"id=checker-finished-notice parent=spawn-launch-ack run=cycle2-notification tool=tool-spawn-checker child={CHECKER}"),
        Row("agent", "text data", "finished", "", f"id=call4-final-answer parent=checker-finished-notice call=call4 {MODEL} usage=2/30/900/100"),
        Row("agent", "text data", "synthetic", "", "id=synthetic-connection-lost parent=call4-final-answer call=not-a-real-message-id model=<synthetic> usage=0/0/None/None"),
        Row("runtime", "data", "context_reset", "", "id=epoch1-boundary continues=call4-final-answer"),
        Row("external", "text", "reset_summary", "", "id=epoch1-summary parent=epoch1-boundary"),
        Row("runtime", "data", "", "", "label=build and check"),
    ],
    (SESSION, "transcript", CHECKER, ""): [
        Row("external", "text data", "", "", "id=checker-prompt run=checker-cycle1"),
        Row("agent", "text data", "", "", f"id=checker-call1-partial parent=checker-prompt call=checker-call1 {MODEL} usage=2/1/900/100"),
        Row("agent", "text data", "finished", "", f"id=checker-call1-final parent=checker-call1-partial call=checker-call1 {MODEL} usage=2/42/900/100"),
    ],
    (SESSION, "agent_meta", CHECKER, ""): [
        Row("runtime", "data", "", "", f"tool=tool-spawn-checker child={CHECKER} label=check the tests"),
    ],
    (SESSION, "transcript", STEP, RUN): [
        Row("external", "text data", "", "", f"id=wfstep-prompt batch={RUN}"),
    ],
    (SESSION, "journal", "", RUN): [
        Row("runtime", "data", "", "", f"child={STEP} batch={RUN}"),
        Row("runtime", "data", "child_result", "", f"child={STEP} batch={RUN}"),
    ],
    (SESSION, "workflow_manifest", "", RUN): [
        Row("runtime", "data", "", "", f"batch={RUN} label=build-check"),
    ],
    (SESSION, "workflow_script", "", RUN): [
        Row("runtime", "unknown:the source is a program, not data", "", "", f"batch={RUN}"),
    ],
    (UPPER, "transcript", "main", ""): [
        Row("external", "text data", "external_input", "external", "id=uppercase-human-input run=uppercase-cycle1"),
    ],
}  # fmt: skip


def described(record: Record) -> Row:
    """Return *record* in the words of the table."""
    parts = []
    for part in record.parts:
        detail = {"call": part.name, "result": part.of, "unknown": part.text}.get(part.k, "")
        state = "" if part.state == "available" else f"/{part.state}"
        parts.append(f"{part.k}{state}{':' if detail else ''}{detail}")
    names = "id parent call run continues tool child batch started_by label model"
    roles = [f"{name}={value}" for name in names.split() if (value := getattr(record, name))]
    if record.usage is not None:
        roles.append(
            "usage="
            + "/".join(
                str(getattr(record.usage, n)) for n in ("in_", "out", "cache_read", "cache_write")
            )
        )
    return Row(
        record.from_,
        " ".join(parts),
        " ".join(record.flags),
        record.trigger,
        " ".join(roles),
        " ".join(f"{each.what} {each.bytes}" for each in record.dropped),
    )  # fmt: skip


def _key(header: Header) -> tuple[str, str, str, str]:
    return (header.session, header.kind, header.stream, header.batch)


def test_the_peer_session_is_what_the_page_says(quick_tmp: Path) -> None:
    with assemble(surroundings(quick_tmp, PEER)) as assembly:
        summary = collect_once(assembly)
    assert summary.sessions == {SESSION, UPPER}
    assert summary.refused == [] and summary.pending == 0 and summary.unknown_members == 0
    landed: dict[tuple[str, str, str, str], list[Row]] = {}
    sources = {}
    for path in landed_files(quick_tmp / "root"):
        with open_sd(path) as sd:
            landed.setdefault(_key(sd.header), []).extend(map(described, sd))
            sources[_key(sd.header)] = sd.header.src
    assert landed.keys() == TABLE.keys()
    for key, rows in TABLE.items():
        assert landed[key] == rows, key
    # The script was found under another project's folder, and lands with its session.
    assert sources[SESSION, "workflow_script", "", RUN].startswith("01-script-filed-elsewhere/")
    assert not any("memory" in src or "not-a-uuid" in src for src in sources.values())
    assert {path.name for path in (quick_tmp / "root").iterdir()} == {".collectord", SESSION, UPPER}


def test_the_peer_sessions_content_is_carried(quick_tmp: Path) -> None:
    with assemble(surroundings(quick_tmp, PEER)) as assembly:
        collect_once(assembly)
    (main,) = (
        path
        for path in landed_files(quick_tmp / "root" / SESSION)
        if path.parent.name == "main" and path.name.startswith("transcript")
    )
    with open_sd(main) as sd:
        records = list(sd)

    def data(ord_: int, part: int = -1) -> str:
        return bytes(records[ord_ - 1].parts[part].data).decode()  # type: ignore[arg-type]

    assert records[2].parts[0].text == "run the build"
    environment = data(3)
    for member in (
        '"cwd":"/Users/dev/01-full-conversation"',
        '"gitBranch":"main"',
        '"version":"2.1.245"',
        '"entrypoint":"cli"',
        '"userType":"external"',
        '"permissionMode":"auto"',
        '"origin":{"kind":"human"}',
    ):
        assert member in environment
    assert data(4) == '{"type":"skill_listing","skillCount":1}'
    # The effort is new on record 5, so the environment is stated in full; 6 states none again.
    assert '"effort":"high"' in data(5) and '"cwd"' in data(5)
    assert '"cwd"' not in data(6) and '"requestId":"req-call1"' in data(6)
    assert '"message.usage.service_tier":"standard"' in data(6)
    assert data(7, 0) == '{"command":"make build","description":"build the project"}'
    result = records[7].parts[0]
    assert (result.text, result.failed, result.bytes) == ("build succeeded", None, 15)
    assert (
        data(8, 0) == '{"stdout":"build succeeded","stderr":"","interrupted":false,"isImage":false}'
    )
    assert re.search(r'"compactMetadata":\{"trigger":"auto"', data(16))
