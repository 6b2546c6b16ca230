"""The commands that show what landed: what they print, where, and how they end."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from collectord.cli.main import execute
from collectord.sessiondata import Part
from tests.reading.growing import Growing, append, data_part, record, source

CHECKOUT = Path(__file__).parents[2]
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
ESCAPES = "red \x1b[31m title \x1b]0;x\x07 \x9b2J \u202e reversed"

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("COLLECTORD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


@pytest.fixture
def growing(quick_tmp: Path) -> Growing:
    return Growing(quick_tmp / "root")


def run(growing: Growing, *arguments: str) -> int:
    return execute([*arguments, "--root", str(growing.path)])


def talk(growing: Growing) -> None:
    """Land a small conversation with a child stream."""
    result = Part(k="result", of="t1", text="made", state="truncated", bytes=1_100_000)
    growing.sealed(
        record(1, "please build", from_="external", trigger="external",
               time="2026-01-01T10:00:00Z"),
        record(2, ESCAPES, time="2026-01-01T10:00:01Z", label="Build it", model="model-1"),
        record(3, "x", from_="external", parts=[result]),
    )  # fmt: skip
    growing.sealed(record(1, "child here"), of=source(stream="child-1"))


def test_sessions_are_listed_newest_first(growing: Growing, capsys: Output) -> None:
    talk(growing)
    growing.sealed(record(1, time="2026-02-01T10:00:00Z"), of=source("newer"))
    assert run(growing, "sessions") == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in out] == ["SESSION", "newer", "s1"]
    assert "Build it" in out[2]
    assert run(growing, "sessions", "--limit", "1") == 0
    shown = capsys.readouterr()
    assert "newer" in shown.out
    assert "s1" not in shown.out
    assert "Not shown: 1 older session" in shown.err


def test_sessions_as_json_are_one_object_a_line(growing: Growing, capsys: Output) -> None:
    talk(growing)
    assert run(growing, "sessions", "--json", "--records") == 0
    (line,) = capsys.readouterr().out.splitlines()
    session = json.loads(line)
    assert session["session"] == "s1"
    assert session["records"] == 4
    assert session["label"] == "Build it"
    assert session["open"] is False
    assert session["streams"] == 2


def test_sessions_can_be_those_of_one_agent(growing: Growing, capsys: Output) -> None:
    talk(growing)
    for name in ("play", "play-local"):
        assert run(growing, "sessions", "--adapter", name, "--json") == 0
        assert len(capsys.readouterr().out.splitlines()) == 1
    assert run(growing, "sessions", "--adapter", "other") == 0
    assert "No session of other" in capsys.readouterr().err


def test_an_empty_result_says_where_was_looked(growing: Growing, capsys: Output) -> None:
    assert run(growing, "sessions") == 0
    assert str(growing.path) in capsys.readouterr().err
    for command in (("show", "abc"), ("show", "latest"), ("tail",), ("verify", "abc")):
        assert run(growing, *command) == 66
        shown = capsys.readouterr()
        assert str(growing.path) in shown.err
        assert shown.out == ""
    assert run(growing, "verify") == 0
    assert "nothing has landed" in capsys.readouterr().err
    assert execute(["verify", "--root", str(growing.path / "none")]) == 66


def test_show_is_a_readable_conversation(growing: Growing, capsys: Output) -> None:
    talk(growing)
    assert run(growing, "show", "latest") == 0
    shown = capsys.readouterr()
    assert "Build it" in shown.out
    assert "person  2026-01-01 10:00:00\n  please build\n" in shown.out
    assert "agent  2026-01-01 10:00:01  model-1\n" in shown.out
    assert "    made\n    (truncated, 1,100,000 bytes in the original)\n" in shown.out
    assert "child here" not in shown.out
    assert "child-1" in shown.err
    assert run(growing, "show", "s1", "--stream", "child") == 0
    assert "child here" in capsys.readouterr().out
    assert run(growing, "show", "s1", "--all") == 0
    assert {"please build", "child here"} <= {
        s.strip() for s in capsys.readouterr().out.split("\n")
    }


@pytest.mark.parametrize(
    "command",
    [["sessions"], ["show", "s1"], ["show", "s1", "--full"], ["sessions", "--json"], ["tail"]],
)
def test_no_control_character_of_the_data_is_printed(
    growing: Growing, capsys: Output, command: list[str]
) -> None:
    talk(growing)
    growing.sealed(record(9, ESCAPES, label=ESCAPES, from_=ESCAPES, model=ESCAPES))
    assert run(growing, *command) == 0
    shown = capsys.readouterr()
    assert "\\x1b" in shown.out or "\\u001b" in shown.out
    assert not OBEYED.search(shown.out + shown.err)


def test_what_a_runtime_keeps_for_itself_does_not_drown_the_conversation(
    growing: Growing, capsys: Output
) -> None:
    asides = [record(n, from_="runtime", parts=[data_part(f'{{"n":{n}}}')]) for n in (1, 2, 4)]
    growing.sealed(asides[0], asides[1], record(3, "hello"), asides[2])
    assert run(growing, "show", "s1") == 0
    lines = capsys.readouterr().out.split("\n")
    one, two, three = (f'runtime  [data] {{"n":{n}}}' for n in (1, 2, 4))
    assert lines[2:] == [one, two, "", "agent", "  hello", "", three, ""]
    assert run(growing, "show", "s1", "--full") == 0
    assert '    {"n":1}\n' in capsys.readouterr().out


def test_show_as_json_prints_the_lines_as_landed(growing: Growing, capsysbinary: object) -> None:
    assert isinstance(capsysbinary, pytest.CaptureFixture)
    talk(growing)
    files = sorted(growing.path.rglob("*.sd"), key=lambda path: path.name[-9:])
    lines = [path.read_bytes().splitlines(keepends=True) for path in files]
    assert run(growing, "show", "s1", "--json") == 0
    assert capsysbinary.readouterr().out == b"".join(line for f in lines for line in f[1:])
    assert run(growing, "show", "s1", "--json", "--header") == 0
    assert capsysbinary.readouterr().out == b"".join(line for f in lines for line in f)
    assert run(growing, "show", "s1", "--json", "--stream", "child-1") == 0
    assert capsysbinary.readouterr().out == lines[1][1]


def test_tail_shows_the_newest_records(growing: Growing, capsys: Output) -> None:
    talk(growing)
    assert run(growing, "tail", "s1", "-n", "2") == 0
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 2
    assert run(growing, "tail", "-n", "4", "--json", "--header") == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum("h" in line for line in shown) == 2
    assert sum("ord" in line for line in shown) == 4


def test_verify_says_when_there_is_nothing_to_act_on(growing: Growing, capsys: Output) -> None:
    talk(growing)
    assert run(growing, "verify") == 0
    assert "1 session, 2 files, 4 records" in capsys.readouterr().out
    assert run(growing, "verify", "s1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["faults"] == 0


def test_verify_ends_with_65_when_there_are_findings(growing: Growing, capsys: Output) -> None:
    talk(growing)
    next(growing.path.rglob("*000001.sd")).unlink()
    assert run(growing, "verify") == 65
    assert "number 1 not there: removed or lost" in capsys.readouterr().out
    assert run(growing, "verify", "--json") == 65
    finding, summary = map(json.loads, capsys.readouterr().out.splitlines())
    assert (finding["kind"], finding["fault"], summary["faults"]) == ("gap", True, 1)


def test_the_digest_of_a_session_is_one_line(growing: Growing, capsys: Output) -> None:
    talk(growing)
    assert run(growing, "verify", "--digest", "s1") == 0
    assert re.fullmatch(r"[0-9a-f]{64}  s1\n", capsys.readouterr().out)
    append(growing.open(), record(4))
    assert run(growing, "verify", "--digest", "s1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["final"] is False


def test_tail_follows_until_nobody_reads(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1, "first"))
    process = subprocess.Popen(
        [sys.executable, "-m", "collectord", "tail", "-f", "--root", str(growing.path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert "first" in process.stdout.readline()
        append(file, record(2, "second"))
        assert "second" in process.stdout.readline()
        append(growing.open(source("other", "child")), record(1, "third"))
        assert "other/child agent: third" in process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
