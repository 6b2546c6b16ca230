"""
Everything odd that an agent may write, between two records that are as usual.

Whatever it is: nothing crashes, the next record is converted as usual, no byte is lost
(its digest is landed, and an ``unknown`` part gives the bytes back), every landed line
is strict JSON, and the audit of the sources adds up.
"""

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from collectord.adapter import Plugin
from collectord.audit import against_sources
from collectord.config import Config, Landing
from collectord.pipeline import Summary, Surroundings, assemble, collect_once
from collectord.sessiondata import Record, record_problems
from collectord.sessiondata.rawjson import string
from collectord_adapters.claude_code import ADAPTER
from tests.landed import records_of
from tests.parsers import NODE, landed_files, read_by_node, read_by_python

SESSION = "00000000-0000-4000-8000-000000000001"
CHECKOUT = Path(__file__).parents[1]


class Home:
    """A Claude Code root with one session, and a landing root."""

    def __init__(self, tmp: Path) -> None:
        self.transcript = tmp / "home" / "projects" / "-p" / f"{SESSION}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.root = tmp / "root"
        self.surroundings = Surroundings(
            Config(landing=Landing(root=self.root)),
            tmp / "state",
            [Plugin("claude-code", ADAPTER, "tests 0")],
            (),
            {"CLAUDE_CONFIG_DIR": str(tmp / "home")},
            tmp / "nobody",
        )

    def collect(self, *, final: bool = False) -> Summary:
        with assemble(self.surroundings) as assembly:
            return collect_once(assembly, final=final)

    def check(self, data: bytes, *, pending: int = 0) -> list[Record]:
        """Assert what holds for any source; return what landed."""
        records = records_of(self.root)
        for record in records:
            assert record_problems(record) == []
            assert isinstance(record.off, int) and isinstance(record.bytes, int)
            original = data[record.off : record.off + record.bytes]
            assert hashlib.sha256(original).hexdigest().startswith(record.sha)
        audit = against_sources(self.surroundings)
        for source in audit:
            assert source.findings == []
        assert (audit.records, audit.compared) == (len(records), len(records))
        assert (audit.total.size, audit.total.pending) == (len(data), pending)
        assert audit.total.difference == 0
        read_by_python(landed_files(self.root))
        return records


@pytest.fixture
def home(quick_tmp: Path) -> Home:
    return Home(quick_tmp)


def user(text: str) -> bytes:
    """Return a record as the runtime writes it."""
    record = {
        "sessionId": SESSION,
        "type": "user",
        "uuid": text,
        "cwd": "/w",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()


def assistant(block: str) -> bytes:
    """Return an assistant's record with one content block, as written."""
    return (
        '{"type":"assistant","uuid":"a","message":{"id":"m","role":"assistant","content":['
        + block
        + "]}}"
    ).encode()


def texts(record: Record) -> list[str]:
    return [part.text for part in record.parts]


def bytes_of(record: Record) -> bytes:
    """Return the source bytes that a record of one unknown part holds."""
    (part,) = record.parts
    assert part.k == "unknown" and part.text
    held = string(part.data)  # type: ignore[arg-type]
    return base64.b64decode(held) if part.encoding else held.encode()


DEEP = b"[" * 5000 + b"]" * 5000
WHOLE = {
    "invalid UTF-8": b'{"type":"user","message":{"content":"\xff\xfe"}}',
    "UTF-8 cut short": '{"type":"user","uuid":"é'.encode()[:-1],
    "NUL bytes": b"\0" * 512,
    "a NUL in a record": b'{"type":"user","uuid":"a\0b"}',
    "two objects on a line": user("one") + user("two"),
    "a cut line and the next": user("one")[:40] + user("two"),
    "not JSON": b"Error: out of memory",
    "half a record": user("one")[:-5],
    "an array": b'[{"type":"user"}]',
    "a string": b'"user"',
    "a number": b"17",
    "null": b"null",
    "a quote that never ends": b'{"type":"user',
    "a BOM in the middle": b"\xef\xbb\xbf" + user("one"),
    "5,000 levels": b'{"type":"user","message":{"content":' + DEEP + b"}}",
    "5,000 levels of nothing": DEEP,
    "5,000 levels unended": b'{"a":' * 5000,
}
"""Lines of which nothing can be said: each is one unknown part with its bytes."""


@pytest.mark.parametrize("odd", WHOLE.values(), ids=WHOLE.keys())
def test_a_line_that_is_no_record_keeps_its_bytes(home: Home, odd: bytes) -> None:
    data = user("before") + b"\n" + odd + b"\n" + user("after") + b"\n"
    home.transcript.write_bytes(data)
    assert home.collect().failures == []
    before, found, after = home.check(data)
    assert bytes_of(found) == odd
    assert (texts(before)[0], texts(after)) == ("before", ["after"])
    assert (after.ord, after.id, after.from_) == (3, "after", "external")


APART = {
    "a number of 30 digits": b'{"type":"user","x":123456789012345678901234567890,"message":{"content":"t"}}',
    "1e400": b'{"type":"user","uuid":"u","x":1e400,"message":{"content":"t"}}',
    "1e400 in what is kept": b'{"type":"user","requestId":1e400,"message":{"content":"t"}}',
    "1e400 in the environment": b'{"type":"user","cwd":-1e400,"message":{"content":"t"}}',
    "a key twice": b'{"type":"user","uuid":"1","uuid":"2","message":{"content":"t"}}',
    "a message twice": b'{"type":"user","message":{"content":"no"},"message":{"content":"t"}}',
    "a key escaped": b'{"type":"user","\\u0075uid":"1","message":{"content":"t"}}',
    "white space": b' {"type" : "user",\t"message": {"content": "t" } } ',
    "nothing but content": b'{"message":{"content":"t"}}',
    "120 levels in a member": b'{"type":"user","x":'
    + b"[" * 120
    + b"]" * 120
    + b',"message":{"content":"t"}}',
}
"""Records with something odd in a corner: the content is a part all the same."""


@pytest.mark.parametrize("odd", APART.values(), ids=APART.keys())
def test_something_odd_in_a_corner_leaves_the_content(home: Home, odd: bytes) -> None:
    data = user("before") + b"\n" + odd + b"\n" + user("after") + b"\n"
    home.transcript.write_bytes(data)
    assert home.collect().failures == []
    _, found, after = home.check(data)
    assert texts(found)[0] == "t" and found.parts[0].k == "text"
    assert texts(after)[0] == "after"


def test_numbers_keep_their_digits(home: Home) -> None:
    numbers = b'{"a":123456789012345678901234567890,"b":1.10,"c":-0.0,"d":1E5,"a":0}'
    block = b'{"type":"tool_use","id":"c","name":"Bash","input":' + numbers + b"}"
    data = assistant(block.decode()) + b"\n"
    home.transcript.write_bytes(data)
    home.collect()
    (record,) = home.check(data)
    assert bytes(record.parts[0].data) == numbers  # type: ignore[arg-type]
    assert numbers in landed_files(home.root)[0].read_bytes()


def test_a_number_that_no_double_holds_is_unknown_in_its_part_only(home: Home) -> None:
    block = (
        '{"type":"tool_use","id":"c","name":"Bash","input":{"n":1e400}},{"type":"text","text":"t"}'
    )
    data = assistant(block) + b"\n"
    home.transcript.write_bytes(data)
    home.collect()
    (record,) = home.check(data)
    assert [part.k for part in record.parts] == ["unknown", "text"]
    assert '"n":1e400' in string(record.parts[0].data)  # type: ignore[arg-type]
    assert record.call == "m"


@pytest.mark.parametrize("half", ["\\ud83d", "\\uDE00", "\\udead\\ud83d"])
def test_half_a_character_is_replaced_and_said(home: Home, half: str) -> None:
    block = f'{{"type":"text","text":"a{half}b \\ud83d\\ude00 \\\\ud83d"}}'
    data = assistant(block) + b"\n" + user("after") + b"\n"
    home.transcript.write_bytes(data)
    home.collect()
    record, after = home.check(data)
    count = len(half) // 6
    assert texts(record)[0] == f"a{'�' * count}b 😀 \\ud83d"
    (dropped,) = record.dropped
    assert (dropped.what, dropped.bytes) == ("lone surrogate", 6 * count)
    assert texts(after)[0] == "after"


MEMBERS = [
    "type uuid parentUuid sessionId session_id agentId timestamp promptId logicalParentUuid subtype",
    "message toolUseResult attachment isMeta isCompactSummary isSidechain aiTitle customTitle",
    "agentName summary cwd gitBranch version entrypoint userType permissionMode slug effort origin",
    "promptSource requestId forkedFrom error todos hash",
    "message.id message.type message.role message.model message.content message.stop_reason",
    "message.usage message.stop_sequence message.container",
    "message.usage.input_tokens message.usage.output_tokens message.usage.cache_read_input_tokens",
    "message.content.0.type message.content.0.text message.content.0.id message.content.0.name",
    "message.content.0.input message.content.0.tool_use_id message.content.0.content",
    "message.content.0.is_error message.content.0.source message.content.0.thinking",
    "message.content.0.signature message.content.0.data",
    "toolUseResult.agentId toolUseResult.status toolUseResult.runId toolUseResult.toolUseId",
    "toolUseResult.persistedOutputPath toolUseResult.persistedOutputSize",
    "attachment.type attachment.text attachment.content attachment.commandMode attachment.origin",
    "origin.kind",
]
BLOCKS = [
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "image",
    "document",
    "new",
]
WRONG = [
    "null",
    "true",
    "-1",
    "1.5",
    '""',
    '"x"',
    '"\\u0000\\u2028"',
    "[]",
    "{}",
    "[[]]",
    '[{"type":null}]',
    '{"kind":7}',
]


def _records_with(values: list[str]) -> list[bytes]:
    """Return a record for each member and each value that it should not have."""
    found = []
    for path in " ".join(MEMBERS).split():
        keys = path.split(".")
        for value in values:
            for kind in BLOCKS if "0" in keys else ("user", "assistant", "attachment", "system"):
                base: dict[str, object] = {"type": "assistant" if "0" in keys else kind}
                base["message"] = {"role": "user", "content": [{"type": kind}]}
                if keys[0] in ("attachment", "toolUseResult"):
                    base[keys[0]] = {"type": "file"}
                holder: object = base
                for key in keys[:-1]:
                    if isinstance(holder, list):
                        holder = holder[0]
                    else:
                        assert isinstance(holder, dict)
                        holder = holder.setdefault(key, {})
                assert isinstance(holder, dict)
                holder[keys[-1]] = "@@"
                text = json.dumps(base, separators=(",", ":")).replace('"@@"', value)
                found.append(text.encode())
    return found


def test_a_value_of_a_wrong_type_in_every_field(home: Home) -> None:
    records = _records_with(WRONG)
    assert len(records) > 3000
    data = b"".join(record + b"\n" for record in records) + user("after") + b"\n"
    home.transcript.write_bytes(data)
    summary = home.collect()
    assert (summary.failures, summary.records) == ([], len(records) + 1)
    found = home.check(data)
    assert texts(found[-1])[0] == "after"
    whole = [record for record in found if any("failed on it" in text for text in texts(record))]
    assert whole == []


def test_a_value_of_any_type_in_every_field_is_carried_or_its_loss_is_stated(home: Home) -> None:
    values = ["@", '"@"', "[@]", '{"k@":[]}', '"@\\n"']
    records = [
        record.replace(b"@", b"98765%06d" % number)  # a value of its own: nothing is a repetition
        for number, record in enumerate(_records_with(values))
    ]
    home.transcript.write_bytes(b"".join(record + b"\n" for record in records))
    home.collect()
    lost = [
        original
        for original, line in zip(records, _record_lines(home.root), strict=True)
        if (number := re.search(rb"98765\d{6}", original)) is None
        or (number[0] not in line and b'"dropped":[' not in line)
    ]
    # The flag `finished` stands for any reason to stop, and a type is told by `from`.
    assert [
        each for each in lost if b'"stop_reason"' not in each and b'"type":"98' not in each
    ] == []


@pytest.mark.parametrize("beside", ['"message":{"content":"t"}', '"attachment":{"text":"t"}'])
def test_the_word_of_a_type_never_heard_of_is_carried(home: Home, beside: str) -> None:
    data = f'{{"type":"brand-new",{beside}}}\n'.encode()
    home.transcript.write_bytes(data)
    home.collect()
    home.check(data)
    (line,) = _record_lines(home.root)
    assert b"brand-new" in line


def _record_lines(root: Path) -> list[bytes]:
    """Return the landed lines without the headers."""
    lines = b"".join(path.read_bytes() for path in landed_files(root)).splitlines()
    return [line for line in lines if line.startswith(b'{"ord":')]


@pytest.mark.parametrize("data", [b"", b"\n", b" \t\r\n\n\r\n", b"\xef\xbb\xbf"])
def test_a_file_without_a_record_lands_nothing(home: Home, data: bytes) -> None:
    home.transcript.write_bytes(data)
    summary = home.collect()
    assert (summary.failures, summary.records, landed_files(home.root)) == ([], 0, [])
    home.check(data, pending=3 if data.startswith(b"\xef") else 0)


def test_crlf_blank_lines_and_a_bom_are_no_content(home: Home) -> None:
    data = b"\xef\xbb\xbf" + user("a") + b"\r\n\r\n \n" + user("b") + b"\r\n" + user("c") + b"\n"
    home.transcript.write_bytes(data)
    home.collect()
    records = home.check(data)
    assert [record.ord for record in records] == [1, 4, 5]
    assert [texts(record)[0] for record in records] == ["a", "b", "c"]
    assert [record.bytes for record in records] == [len(user("a")) + 3, *[len(user("b"))] * 2]


def test_line_separators_inside_a_string_are_content(home: Home) -> None:
    text = "a\u2028b\u2029c\u0085d\u000ce".replace("\f", "")
    data = user(text) + b"\n"
    home.transcript.write_bytes(data)
    home.collect()
    (record,) = home.check(data)
    assert texts(record)[0] == text


def test_a_last_line_without_its_newline_waits_or_is_final(home: Home) -> None:
    data = user("a") + b"\n" + user("b")
    home.transcript.write_bytes(data)
    summary = home.collect()
    assert (summary.records, summary.pending) == (1, 1)
    home.check(data, pending=len(user("b")))
    assert home.collect(final=True).records == 1
    assert [texts(record)[0] for record in home.check(data)] == ["a", "b"]
    home.transcript.write_bytes(data + b"\n" + user("c") + b"\n")
    home.collect()
    records = home.check(home.transcript.read_bytes())
    assert [texts(record)[0] for record in records] == ["a", "b", "c"]


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
def test_javascript_reads_every_line(home: Home) -> None:
    odd = [*WHOLE.values(), *APART.values(), *_records_with(WRONG)[::7]]
    home.transcript.write_bytes(b"\n".join(odd) + b"\n")
    home.collect()
    paths = landed_files(home.root)
    assert read_by_node(paths) == read_by_python(paths) > len(odd)


PROGRAM = """
import resource, sys
from pathlib import Path
from tests.test_odd_input import Home, user
import logging, structlog
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
from collectord.audit import against_sources

home = Home(Path(sys.argv[1]))
with home.transcript.open("wb") as stream:
    stream.write(user("before") + b"\\n" + b'{"type":"user","message":{"content":"')
    for _ in range(100):
        stream.write(b"x" * (1 << 20))
    stream.write(b'"}}\\n' + user("after") + b"\\n")
summary = home.collect()
assert (summary.failures, summary.records) == ([], 3), summary
audit = against_sources(home.surroundings)
(source,) = audit
assert (source.compared, source.findings, audit.total.difference) == (3, [], 0), source
# Linux hands the parent's own peak on to ru_maxrss across an exec, so ask for this program's.
status = Path("/proc/self/status")
peaks = status.read_text().split("VmHWM:")[1:] if status.exists() else []
print(peaks[0].split()[0] if peaks else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_a_line_of_100_mb_lands_in_bounded_memory(quick_tmp: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(quick_tmp)],
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        env={"PYTHONPATH": f"{CHECKOUT}:{CHECKOUT / 'tests'}:{CHECKOUT / 'adapters'}"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 150 << 20
    _, long, after = map(orjson.loads, _record_lines(quick_tmp / "root"))
    assert long["bytes"] > 100 << 20
    (part,) = long["parts"]
    sha = hashlib.sha256(part["data"].encode()).hexdigest()
    assert (part["k"], part["bytes"], sha[:12]) == ("unknown", long["bytes"], long["sha"])
    assert after["id"] == "after"
