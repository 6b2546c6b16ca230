"""The frame of the command line: what every command has, and how a run ends."""

import datetime as dt
import errno
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from collectord import __version__
from collectord.cli import console
from collectord.cli.main import COMMANDS, Entry, collectord, execute
from collectord.cli.settings import Settings, common_options
from collectord.errors import NothingFound, RootBusy

CHECKOUT = Path(__file__).parents[2]

FRAME = sys.modules["collectord.cli.main"]

Play = Callable[[Callable[[Settings], None]], None]


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("COLLECTORD_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Put a function behind the command ``play``."""

    def install(body: Callable[[Settings], None]) -> None:
        @click.command
        @common_options
        def command(settings: Settings) -> None:
            body(settings)

        module = type(sys)("collectord_test_play")
        module.command = command  # type: ignore[attr-defined]
        module.__spec__ = type(sys.__spec__)(module.__name__, None)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        table = {**COMMANDS, "play": Entry(module.__name__, "Play.")}
        monkeypatch.setattr(FRAME, "COMMANDS", table)

    return install


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=CHECKOUT
    )
    return done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_help_and_version_import_nothing_heavy(arguments: list[str]) -> None:
    loaded = run_python(
        "import sys; from collectord.cli.main import execute\n"
        f"assert execute({arguments!r}) == 0\n"
        "print('modules', *sorted(m.partition('.')[0] for m in sys.modules))"
    )
    modules = set(loaded.rpartition("modules ")[2].split())
    assert "click" in modules
    assert not modules & {"rich", "watchdog", "anyio", "structlog", "msgspec", "sqlite3"}


def test_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--version"]) == 0
    assert capsys.readouterr().out == f"collectord {__version__}\n"


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Usage: collectord")
    assert "Examples:" in shown


def test_a_command_whose_module_is_missing_is_not_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = {**COMMANDS, "ghost": Entry("collectord.cli.ghost", "Boo.")}
    monkeypatch.setattr(FRAME, "COMMANDS", table)
    assert execute(["--help"]) == 0
    assert "ghost" not in capsys.readouterr().out
    assert execute(["ghost"]) == 64
    assert "there is no command 'ghost'" in capsys.readouterr().err


def installed_commands() -> list[str]:
    return collectord.list_commands(click.Context(collectord))


@pytest.mark.parametrize("name", installed_commands())
def test_every_command_has_help_with_an_example_and_the_shared_options(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^\s+collectord .*\b" + name, shown.partition("Example")[2], re.MULTILINE)
    for option in ("--config", "--root", "--state-dir", "--adapter", "--json", "-v", "-q"):
        assert option in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["confg"], "there is no command 'confg'; did you mean 'config'?"),
        (["zzz"], "there is no command 'zzz'"),
        (["--rot", "x"], "no such option '--rot'; did you mean '--root'?"),
        (["config", "--jsn"], "no such option '--jsn'; did you mean '--json'?"),
        (["config", "shwo"], "no such command 'shwo'; did you mean 'show'?"),
        (["--root"], "option '--root' requires an argument."),
    ],
)
def test_a_wrong_command_line_is_one_sentence_and_64(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(arguments) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == f"collectord: {sentence}"
    assert err.splitlines()[1].startswith("  See 'collectord")
    assert len(err.splitlines()) == 2


def test_shared_options_count_before_and_after_the_command(play: Play) -> None:
    seen: list[Settings] = []
    play(seen.append)

    before = ["--json", "--adapter", "a", "-v", "--root", "/x", "--state-dir", "/s"]
    after = ["--adapter", "b", "--adapter", "a", "-v", "--root", "/y"]
    assert execute([*before, "play", *after]) == 0

    [settings] = seen
    assert settings.json
    assert settings.adapter_keys == ("a", "b")
    assert settings.verbose == 2
    assert settings.root == Path("/y")
    assert settings.state_dir == Path("/s")
    assert settings.config.log.level == "debug"


@pytest.mark.parametrize(
    ("flags", "level"), [([], "info"), (["-v"], "debug"), (["-q"], "warning"), (["-qq"], "error")]
)
def test_v_and_q_set_the_level_of_the_log(play: Play, flags: list[str], level: str) -> None:
    seen: list[str] = []
    play(lambda settings: seen.append(settings.config.log.level))
    assert execute(["play", *flags]) == 0
    assert seen == [level]


def test_warnings_are_said_once_and_not_when_quiet(
    play: Play, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[lannding]\n")
    play(lambda settings: console.write(f"{settings.root} {settings.config.log.level}"))

    assert execute(["play", "--config", str(file)]) == 0
    said = f"collectord: warning: {file}:1: unknown table lannding; did you mean landing?\n"
    assert capsys.readouterr().err == said
    assert execute(["play", "-q", "--config", str(file)]) == 0
    assert capsys.readouterr().err == ""


def test_an_error_of_ours_is_its_sentence_its_hint_and_its_code(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(_: Settings) -> None:
        raise RootBusy(Path("/x"), "pid 3")

    play(body)
    assert execute(["play"]) == 75
    assert capsys.readouterr().err == (
        f"collectord: /x: another collectord writes here (pid 3)\n  {RootBusy.hint}\n"
    )


def test_errors_out_of_a_task_group_are_said_one_by_one(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(_: Settings) -> None:
        raise ExceptionGroup("tasks", [NothingFound("a"), ExceptionGroup("x", [NothingFound("b")])])

    play(body)
    assert execute(["play"]) == 66
    assert capsys.readouterr().err == "collectord: a\ncollectord: b\n"


def test_an_unexpected_error_is_called_a_bug_and_its_text_is_not_shown(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(_: Settings) -> None:
        raise ValueError("what somebody said")

    play(body)
    assert execute(["play"]) == 70
    err = capsys.readouterr().err
    assert "this is a bug in collectord" in err
    assert "ValueError" in err
    assert "issues" in err
    assert "-vv" in err
    assert "what somebody said" not in err
    assert "Traceback" not in err


@pytest.mark.parametrize("ask", [["-vv"], []])
def test_the_trace_is_shown_to_who_asks(
    play: Play, ask: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(_: Settings) -> None:
        raise ValueError("x")

    play(body)
    if not ask:
        monkeypatch.setenv("COLLECTORD_DEBUG", "1")
    assert execute(["play", *ask]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_error_of_the_system_names_the_file(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(_: Settings) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/x/y")

    play(body)
    assert execute(["play"]) == 77
    assert capsys.readouterr().err.startswith("collectord: /x/y: Permission denied\n")


def test_ctrl_c_is_quiet(play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    def body(_: Settings) -> None:
        raise BaseExceptionGroup("tasks", [KeyboardInterrupt()])

    play(body)
    assert execute(["play"]) == 130
    assert capsys.readouterr() == ("", "")


def piped(script: str) -> tuple[int, bytes, bytes]:
    """Run *script* with standard output a pipe whose reader takes one line and goes away."""
    read, write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=write, stderr=subprocess.PIPE, cwd=CHECKOUT
    )
    os.close(write)
    with os.fdopen(read, "rb") as reader:
        line = reader.readline()
    _, err = process.communicate(timeout=30)
    return process.returncode, line, err


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes")
def test_output_stops_quietly_at_a_closed_pipe() -> None:
    script = (
        "import sys, click\n"
        "from collectord.cli import console, execute\n"
        "import collectord.cli.config\n"
        "def flood(settings):\n"
        "    while True: console.write_json({'x': 'y' * 1000})\n"
        "sys.modules['collectord.cli.config']._show = flood\n"
        "sys.exit(execute(['config']))\n"
    )
    code, line, err = piped(script)
    assert (code, err) == (0, b"")
    assert line.startswith(b'{"x":"yyy')


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_sentence(unbuffered: str) -> None:
    """Whether the disk refuses a line at once or what was held back to the end."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "collectord", "config", "path"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert done.returncode == 74
    assert done.stderr == b"collectord: standard output: No space left on device\n"


def test_json_lines_hold_what_json_does_not_know() -> None:
    line = console.json_line({"path": Path("/x"), 3: (1, 2), "set": {1}})
    assert line == '{"path":"/x","3":[1,2],"set":[1]}'
    assert console.json_line({"name": "\udcff"}) == '{"name":"?"}'


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1 << 20, "1.0 MiB"), ((1 << 20) - 1, "1.0 MiB")],
)  # fmt: skip
def test_sizes_for_people(size: int, shown: str) -> None:
    assert console.human_bytes(size) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 records"), (1, "1 record"), (2, "2 records"), (2048, "2,048 records")]
)  # fmt: skip
def test_numbers_with_their_noun_for_people(count: int, shown: str) -> None:
    assert console.counted(count, "record") == shown


@pytest.fixture
def utc() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system cannot set a time zone")
@pytest.mark.usefixtures("utc")
def test_times_for_people() -> None:
    assert console.human_time("2026-09-01T12:56:03.18Z") == "2026-09-01 12:56:03"
    assert console.human_time("not \x1b a time") == "not \\x1b a time"
    assert console.human_time(None) == "-"
    now = dt.datetime.fromtimestamp(200, dt.UTC)
    ages = [console.human_age(float(at), now=now) for at in (0, 150, 199, 201, 4000)]
    assert ages == ["3 min ago", "50 s ago", "just now", "just now", "in the future"]
    assert console.human_age("1969-12-31T21:00:00Z", now=now) == "3 h ago"
    assert console.human_age("1969-12-20T21:00:00Z", now=now) == "11 days ago"


def test_a_table_in_a_pipe_is_plain_and_its_cells_cannot_steer_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console.write_table(("name", "size"), [("a\x1b[31m", 5), ("b", 1000)], right=("size",))
    assert capsys.readouterr().out.splitlines() == [
        "NAME       SIZE",
        "a\\x1b[31m     5",
        "b          1000",
    ]
