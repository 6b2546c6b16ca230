"""Ctrl-C is quiet from the first moment to the last."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]

WAIT = """
def wait(*_, **__):
    import time
    print("here", flush=True)
    time.sleep(60)
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")


def interrupted(folder: Path, command: str, *, ignores: bool = False) -> tuple[int, bytes]:
    """Run with *folder* before all modules, interrupt it once it says so; return how it ended."""
    wrapper = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh"] if ignores else []
    with subprocess.Popen(
        [*wrapper, sys.executable, "-m", "collectord", command],
        env={
            "PATH": os.defpath,
            "HOME": str(folder),
            "PYTHONPATH": os.pathsep.join([str(folder), str(CHECKOUT)]),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    return process.returncode, said


@pytest.mark.parametrize("module", ["click", "orjson", "watchdog"])
def test_while_modules_are_imported_it_ends_by_the_signal_in_silence(
    tmp_path: Path, module: str
) -> None:
    """Those of the frame, and those of the command."""
    (tmp_path / f"{module}.py").write_text(WAIT + "wait()\n")
    assert interrupted(tmp_path, "run") == (-signal.SIGINT, b"")


def test_while_the_daemon_starts_it_ends_by_the_signal_in_silence(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        WAIT + "import collectord.daemon\ncollectord.daemon.run = wait\n"
    )
    assert interrupted(tmp_path, "run") == (-signal.SIGINT, b"")


def test_once_a_command_runs_it_is_130_in_silence(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        WAIT + "import collectord.reading\ncollectord.reading.sessions = wait\n"
    )
    assert interrupted(tmp_path, "sessions") == (130, b"")


def test_when_all_is_done_it_ends_by_the_signal_in_silence(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        WAIT + "import atexit\natexit.register(wait)\n"
        "import collectord.reading\ncollectord.reading.sessions = lambda _: []\n"
    )
    assert interrupted(tmp_path, "sessions")[0] == -signal.SIGINT


def test_an_ignored_interrupt_stays_ignored(tmp_path: Path) -> None:
    """As under nohup, or in the background of a script."""
    (tmp_path / "sitecustomize.py").write_text(
        WAIT.replace("60", "0.5") + "import collectord.reading\n"
        "collectord.reading.sessions = lambda _: wait() or []\n"
    )
    code, said = interrupted(tmp_path, "sessions", ignores=True)
    assert code == 0
    assert said.startswith(b"No session in ")
