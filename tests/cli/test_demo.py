"""The demo as a person runs it: whole processes, from the first line to the last."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from collectord.demo.player import Half, Written, play
from collectord.demo.sample import Step, steps

NO_HOME = {"HOME": "/nonexistent", "PATH": os.defpath, "LANG": "C.UTF-8"}


def environment(temporary: Path) -> dict[str, str]:
    temporary.mkdir(exist_ok=True)
    python_path = os.environ.get("PYTHONPATH", "")
    return {**NO_HOME, "TMPDIR": str(temporary), "PYTHONPATH": python_path}


def demo(temporary: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "collectord", "demo", *arguments],
        env=environment(temporary),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What a demo said, and the folder that it was asked to keep."""
    temporary = tmp_path_factory.mktemp("kept")
    folder = temporary / "demo"
    done = demo(temporary / "tmp", "--fast", "--keep", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, folder


def test_it_shows_each_record_and_says_what_landed_where(kept: tuple[str, Path]) -> None:
    said, folder = kept
    written = len(steps())
    assert f"{written} lines written, {written} records landed: none missing, none twice." in said
    assert "\x1b" not in said, "a pipe gets plain text"
    for path in (folder / "sessions").rglob("*.sd"):
        assert str(path.relative_to(folder / "sessions")) in said
    assert re.search(r"From written to readable: [\d.]+ ms \(median\), [\d.]+ ms \(slowest\)", said)
    assert "in the middle of a line: no record yet" in said
    assert f"collectord verify --root {folder / 'sessions'}" in said


def test_the_record_that_it_shows_is_one_of_the_files(kept: tuple[str, Path]) -> None:
    said, folder = kept
    (shown,) = [line for line in said.splitlines() if line.startswith('{"ord":')]
    assert any(
        shown in path.read_text("utf-8").splitlines()
        for path in (folder / "sessions").rglob("*.sd")
    )


def test_every_written_line_is_in_exactly_one_record(kept: tuple[str, Path]) -> None:
    _, folder = kept
    landed = []
    for path in (folder / "sessions").rglob("*.sd"):
        header, *records = map(json.loads, path.read_text("utf-8").splitlines())
        landed += [(header["src"], each["ord"], each["bytes"]) for each in records]
    written = []
    projects = folder / "home" / ".claude" / "projects"
    for path in projects.rglob("*.*"):
        lines = path.read_bytes().splitlines()
        src = path.relative_to(projects).as_posix()
        written += [(src, number, len(line)) for number, line in enumerate(lines, start=1)]
    assert sorted(landed) == sorted(written)


def test_it_leaves_nothing_behind_and_sums_up_in_json(tmp_path: Path) -> None:
    done = demo(tmp_path / "tmp", "--fast", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    assert summary["written"] == summary["records"] == len(steps())
    assert summary["missing"] == summary["twice"] == 0
    assert {file["kind"] for file in summary["files"]} == {"transcript", "agent_meta"}
    assert 0 <= summary["latency_ms"]["median"] <= summary["latency_ms"]["max"] < 10_000
    assert list((tmp_path / "tmp").iterdir()) == []


def test_collect_plays_it_only_where_no_session_is_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = [sys.executable, "-u", "-m", "collectord", "collect", "--or-demo"]
    where = {**environment(tmp_path / "tmp"), "HOME": str(home)}
    with subprocess.Popen(command, env=where, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline()]
        while "person" not in said[-1]:
            assert process.poll() is None
            said.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)  # it goes on as the demo does
        assert process.wait(30) == 130
    assert said[0].startswith("No sessions found: looked in ")
    assert "collectord demo\n" in said
    assert list((tmp_path / "tmp").iterdir()) == []

    project = home / ".claude" / "projects" / "-a"
    project.mkdir(parents=True)
    line = '{"type":"mode","mode":"normal"}\n'
    (project / "5e7a1c90-3f2b-4d68-9a41-0c8de2b7f613.jsonl").write_text(line)
    done = subprocess.run(command, env=where, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.match(r"1 records? of 1 session ", done.stdout)
    assert "demo" not in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_end_in_the_middle_is_quiet_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals
) -> None:
    temporary = tmp_path / "tmp"
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "collectord", "demo", "--speed", "1"],
        env=environment(temporary),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while "person" not in process.stdout.readline():
        assert process.poll() is None
    (folder,) = temporary.iterdir()
    daemon = json.loads((folder / "sessions" / ".collectord" / "lock").read_text("utf-8"))["pid"]
    process.send_signal(number)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (128 + number, "")
    assert list(temporary.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


def test_a_folder_that_holds_something_is_not_played_in(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("x")
    done = demo(tmp_path / "tmp", "--keep", str(tmp_path / "mine"))
    assert done.returncode == 64
    assert "is not empty" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["precious"]


def test_a_landing_root_of_ones_own_is_refused(tmp_path: Path) -> None:
    done = demo(tmp_path / "tmp", "--root", str(tmp_path / "root"))
    assert (done.returncode, done.stdout) == (64, "")
    assert not (tmp_path / "root").exists()


def test_a_half_written_line_is_announced_before_it_is_whole(tmp_path: Path) -> None:
    line = b'{"timestamp":"now","text":"half"}'
    said: list[Written | Half] = []
    seen: list[bytes] = []

    class Watched:
        """An event that is never set, and looks at the file while the player waits."""

        def wait(self, _seconds: float) -> bool:
            path = tmp_path / "a" / "b.jsonl"
            seen.append(path.read_bytes() if path.exists() else b"")
            return False

    play([Step("a/b.jsonl", 0, True, line)], tmp_path, speed=1, stop=Watched(), say=said.append)  # type: ignore[arg-type]
    assert [type(each) for each in said] == [Half, Written]
    half, whole = said
    assert isinstance(half, Half) and isinstance(whole, Written)
    assert seen == [b"", whole.line[: half.bytes]]
    assert (tmp_path / "a" / "b.jsonl").read_bytes() == whole.line + b"\n"
    assert b"now" not in whole.line


def test_the_sample_is_one_session_that_a_reader_can_follow() -> None:
    sample = steps()
    assert 20 <= len(sample) <= 25
    assert sum(step.wait_s for step in sample) + 0.8 * sum(step.is_torn for step in sample) < 18
    sessions = {value for step in sample if (value := json.loads(step.line).get("sessionId"))}
    assert len(sessions) == 1
    known: set[str] = set()
    for step in sample:
        record = json.loads(step.line)
        assert record.get("parentUuid") in {None, *known}, "a record stands before its parent"
        known.add(record.get("uuid", ""))


def test_the_daemon_of_a_killed_demo_ends_by_itself(tmp_path: Path) -> None:
    """Its alarm outlives the exec; the real bound is too long for a test, so it is shortened."""
    program = (
        "import collectord.demo.background as b, pathlib, os, sys\n"
        "b.LIFETIME_S = 2\n"
        "here = pathlib.Path(sys.argv[1])\n"
        "d = b.Background(here, here / 'sessions', here / 'state', here / 'log')\n"
        "d.wait_ready()\n"
        "print(d._process.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, timeout=30
    )
    daemon = int(done.stdout)
    deadline = time.monotonic() + 20
    while _is_running(daemon):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_running(pid: int) -> bool:
    """Return whether the process is there and no zombie that nobody has collected."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
    return state != "Z"
