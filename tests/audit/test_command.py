"""``verify --against-sources``: what it prints, where it looks, and how it ends."""

import json
import os
from pathlib import Path

import pytest

from collectord.cli.main import execute

SESSION = "00000000-0000-4000-8000-000000000001"
LINE = '{"type":"user","sessionId":"%s","uuid":"u","message":{"role":"user","content":"t%d"}}\n'

Output = pytest.CaptureFixture[str]


@pytest.fixture
def projects(monkeypatch: pytest.MonkeyPatch, quick_tmp: Path) -> Path:
    """The folder where Claude Code keeps one session of two records and half a line."""
    for name in [name for name in os.environ if name.startswith(("COLLECTORD_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(quick_tmp / "home"))
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(quick_tmp / name.lower()))
    projects = quick_tmp / "home" / ".claude" / "projects"
    transcript(projects).parent.mkdir(parents=True)
    transcript(projects).write_text(LINE % (SESSION, 1) + LINE % (SESSION, 2) + "{")
    return projects


def transcript(projects: Path) -> Path:
    return projects / "-w" / f"{SESSION}.jsonl"


def verify(*arguments: str) -> int:
    return execute(["verify", "--against-sources", *arguments])


def test_the_sums_are_a_table_and_add_up(projects: Path, capsys: Output) -> None:
    assert execute(["collect", "-q"]) == 0
    assert verify() == 0
    out = capsys.readouterr().out.splitlines()
    size = transcript(projects).stat().st_size
    assert out[-4].split()[:3] == ["AGENT", "KIND", "BYTES"]
    kind, total, *sums = out[-3].split()[2:]
    assert (kind, total, sum(map(int, sums))) == ("transcript", str(size), size)
    assert out[-2] == "The sums add up to the sources' sizes."
    assert out[-1] == (
        "1 source, 2 records: 2 landed, 2 converted again and compared, nothing to act on."
    )


def test_as_json_each_source_and_each_sum_is_a_line(projects: Path, capsys: Output) -> None:
    assert execute(["collect", "-q"]) == 0
    assert verify("--json") == 0
    found = {line["kind"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert set(found) == {"summary", "source", "sums", "audit"}
    for line in (found["source"], found["sums"], found["audit"]):
        assert line["adds_up"] is True
        assert sum(line["sums"].values()) == line["bytes"] == transcript(projects).stat().st_size
    assert found["source"]["src"] == f"-w/{SESSION}.jsonl"
    assert (found["audit"]["landed"], found["audit"]["faults"]) == (2, 0)


def test_a_fault_is_a_line_and_the_exit_code_65(projects: Path, capsys: Output) -> None:
    assert execute(["collect", "-q"]) == 0
    path = transcript(projects)
    path.write_bytes(path.read_bytes().replace(b"t1", b"t9"))
    assert verify() == 65
    assert "record 1 landed as" in capsys.readouterr().out
    assert verify(SESSION[:-1]) == 65
    assert verify(str(path), "--json") == 65
    (found,) = (
        line
        for line in map(json.loads, capsys.readouterr().out.splitlines()[-4:])
        if line["kind"] == "mismatch"
    )
    assert (found["fault"], found["ord"]) == (True, 1)


def test_a_path_compares_what_is_below_it_only(
    projects: Path, capsys: Output, quick_tmp: Path
) -> None:
    other = quick_tmp / "backup" / "projects" / "-w" / f"{SESSION[:-1]}2.jsonl"
    other.parent.mkdir(parents=True)
    other.write_text(LINE % (SESSION, 1))
    assert execute(["collect", "-q"]) == 0
    assert execute(["collect", "-q", str(other.parent.parent)]) == 0
    capsys.readouterr()
    assert verify(str(other)) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("1 source, 1 record: 1 landed")
    assert verify() == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("2 sources, 3 records: 3 landed")


def test_without_sources_it_says_where_it_looked(projects: Path, capsys: Output) -> None:
    assert execute(["collect", "-q"]) == 0
    transcript(projects).unlink()
    assert verify() == 0
    assert "1 source no longer there" in capsys.readouterr().out
    assert verify(f"--root={projects.parents[2] / 'empty'}") == 66
    (projects.parents[2] / "empty").mkdir()
    capsys.readouterr()
    assert verify(f"--root={projects.parents[2] / 'empty'}") == 0
    said = capsys.readouterr().out
    assert "No sources found" in said and str(projects) in said


def test_two_sessions_are_too_many(projects: Path, capsys: Output) -> None:
    assert verify("one", "two") == 64
    assert "one SESSION" in capsys.readouterr().err
