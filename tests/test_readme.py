"""What the README says is so: its commands exist, its output is what comes out."""

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from collectord.cli.main import COMMANDS, collectord
from collectord.landing import LandingRoot
from collectord.landing.root import parse_name
from collectord.sessiondata import Kind, check_header, check_record, decode_header, decode_record

CHECKOUT = Path(__file__).parents[1]
README = (CHECKOUT / "README.md").read_text("utf-8")
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def the_block(language: str, beginning: str) -> str:
    (found,) = [text for text in blocks(language) if text.startswith(beginning)]
    return found


def test_it_opens_with_the_two_commands_each_one_line() -> None:
    assert [name for name, _ in BLOCKS[:2]] == ["sh", "sh"]
    assert README.index("```sh") < 150
    for text in blocks("sh"):
        assert text.count("\n") == 1
        assert text.startswith("python3 -m venv .venv && .venv/bin/pip install -q -e ")
    assert len(blocks("sh")) == 2


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    ci = (CHECKOUT / ".ci" / "run").read_text("utf-8")
    (said,) = re.findall(r'^TESTS="(.*)"$', ci, re.MULTILINE)
    assert said == blocks("sh")[1].strip()
    assert 'bash -euo pipefail -c "$TESTS"' in ci.strip().splitlines()[-1]


def commands() -> list[str]:
    """Return every command line of collectord's that the README shows."""
    typed = re.findall(r"^\$ (collectord [^#\n]*)", README, re.MULTILINE)
    typed += re.findall(r"`(collectord [^`]+)`", README)
    typed += re.findall(r"\.venv/bin/(collectord [^`\n]+)", README)
    return [" ".join(each.split()) for each in typed]


@pytest.mark.parametrize("typed", sorted(set(commands())))
def test_each_command_and_option_exists(typed: str) -> None:
    _, name, *rest = shlex.split(typed.replace("…", "").replace("[", "").replace("]", ""))
    name = name.rstrip(",")
    assert name in COMMANDS
    with collectord.make_context("collectord", [], resilient_parsing=True) as context:
        command = collectord.get_command(context, name)
    assert command is not None
    known = {option for each in command.params for option in each.opts}
    assert {word for word in rest if word.startswith("-")} <= known


def test_options_that_stand_alone_exist_too() -> None:
    known = {"--json", "--root"}
    for name in COMMANDS:
        with collectord.make_context("collectord", [], resilient_parsing=True) as context:
            command = collectord.get_command(context, name)
        assert isinstance(command, click.Command)
        known |= {option for each in command.params for option in each.opts}
    assert set(re.findall(r"`(--[a-z-]+)", README)) <= known


def test_every_command_is_named() -> None:
    for name in COMMANDS:
        assert re.search(rf"`(collectord )?{name}\b", README), name


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a demo says."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-m", "collectord", "demo", "--fast"],
        env={
            "PATH": os.defpath,
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shape(line: str) -> str:
    """Return a line without its figures and spacing."""
    return " ".join(re.sub(r"[\d.]+", "0", line).split())


def test_the_demo_says_what_it_is_shown_to_say(said: str) -> None:
    real = [shape(line) for line in said.splitlines()]
    _, *shown = the_block("console", "$ collectord demo").splitlines()
    assert len(shown) > 8
    for line in shown:
        beginning = shape(line.removesuffix("…"))
        assert any(each.startswith(beginning) for each in real), line


def compact(example: str) -> bytes:
    """Return what is broken into lines for the page as the one line that it stands for."""
    return json.dumps(json.loads(example), separators=(",", ":")).encode() + b"\n"


def test_the_header_and_the_record_are_real(said: str) -> None:
    header, record = blocks("json")
    check_header(decode_header(compact(header)))
    shown = json.loads(record)
    check_record(decode_record(compact(record)))
    (real,) = [json.loads(line) for line in said.splitlines() if line.startswith('{"ord":')]
    for each in (shown, real):
        each["sha"] = each["time"] = ""
    assert shown == real
    assert list(shown) == list(real), "the order of the fields"


def test_the_layout_is_the_one_that_landing_uses() -> None:
    root = LandingRoot(Path("/root"))
    folder: list[str] = []
    names: list[str] = []
    for line in textwrap.dedent(the_block("", "5e7a1c90")).splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        if line.endswith("/"):
            folder[depth:] = [line.strip("/ ")]
        else:
            names.append("/".join([*folder, line.strip()]))
    kinds = {
        "transcript": Kind.TRANSCRIPT,
        "meta": Kind.AGENT_META,
        "journal": Kind.JOURNAL,
    }
    numbers = []
    for name in names:
        session, _, stream_or_run, _ = name.split("/")
        parsed = parse_name(Path("/root") / name)
        assert parsed is not None, name
        numbers.append(parsed.seq)
        kind = kinds[parsed.prefix]
        made = root.folder(kind, session, stream_or_run, stream_or_run)
        assert made == parsed.path.parent
    assert sorted(numbers) == list(range(1, len(numbers) + 1)), "without a gap"


def test_the_figures_are_the_defaults() -> None:
    from collectord.config import Config

    landing, watch = Config().landing, Config().watch
    assert landing.max_file_bytes == 2 << 20 and "2 MiB" in README
    assert landing.seal_after_idle_s == 300 and "quiet for 5 minutes" in README
    assert landing.seal_after_age_s == 3600 and "after an hour" in README
    assert watch.poll_every_s == 10 and "every 10 seconds" in README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(CHECKOUT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_index() -> None:
    index = (CHECKOUT / "docs" / "index.md").read_text("utf-8")
    for page in sorted((CHECKOUT / "docs").rglob("*.md")):
        name = page.relative_to(CHECKOUT / "docs").as_posix()
        assert name == "index.md" or f"({name})" in index, name


def test_the_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = blocks("python")
    (name,) = re.findall(r'open_sd\("(.+?)"\)', example)
    header, record = blocks("json")
    (tmp_path / name).write_bytes(compact(header) + compact(record))
    monkeypatch.chdir(tmp_path)
    shown: list[tuple[object, ...]] = []
    run: Callable[..., None] = lambda *each: shown.append(each)  # noqa: E731
    exec(compile(example, "README.md", "exec"), {"print": run})
    assert shown == [("2026-12-01T21:09:40.712Z", "agent", ["call", "data"])]
