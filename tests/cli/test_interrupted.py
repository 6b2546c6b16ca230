"""Ctrl-C is quiet from the first moment to the last."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]

WAITS = "import sys, time\nprint('here', flush=True)\ntime.sleep(60)\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")


def interrupted(folder: Path, *, ignores: bool = False) -> tuple[int, bytes]:
    """Run with *folder* before all modules, interrupt it once it says so; return how it ended."""
    wrapper = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh"] if ignores else []
    with subprocess.Popen(
        [*wrapper, sys.executable, "-m", "collectord", "--version"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(CHECKOUT)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    return process.returncode, said


def test_while_modules_are_imported_it_ends_by_the_signal_in_silence(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(WAITS)
    assert interrupted(tmp_path) == (-signal.SIGINT, b"")


def test_once_a_command_runs_it_is_130_in_silence(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import time\n"
        "from collectord.cli import main\n"
        "def invoke(*_, **__):\n"
        "    print('here', flush=True)\n"
        "    time.sleep(60)\n"
        "main.collectord.make_context = invoke\n"
    )
    assert interrupted(tmp_path) == (130, b"")


def test_when_all_is_done_it_ends_by_the_signal_in_silence(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, time\n"
        "def last():\n"
        "    print('here', flush=True)\n"
        "    time.sleep(60)\n"
        "atexit.register(last)\n"
        "from collectord.cli import main\n"
        "main.collectord.make_context = lambda *_, **__: exit(0)\n"
    )
    assert interrupted(tmp_path) == (-signal.SIGINT, b"")


def test_an_ignored_interrupt_stays_ignored(tmp_path: Path) -> None:
    """As under nohup, or in the background of a script."""
    (tmp_path / "sitecustomize.py").write_text(
        "import time\n"
        "from collectord.cli import main\n"
        "def invoke(*_, **__):\n"
        "    print('here', flush=True)\n"
        "    time.sleep(0.5)\n"
        "    exit(0)\n"
        "main.collectord.make_context = invoke\n"
    )
    assert interrupted(tmp_path, ignores=True) == (0, b"")
