"""
A real Claude Code client and a scripted model for it, on this machine only.

The client is no part of the project: it is taken from the folder in ``CLIENTS``, from
``clients`` beside the checkout, or installed once with npm into the user's cache folder,
in one pinned version. The scripted model lies in the shared folder beside the checkout
(``COLLECTORD_SHARED`` names another place); without it there is nothing to run.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
import pytest

PACKAGE = "@anthropic-ai/claude-code"
VERSION = "2.1.197"
INSTALL_S = 240
CHECKOUT = Path(__file__).parents[2]


def shared() -> Path:
    """Return the folder with the scripted model, or skip."""
    folder = Path(os.environ.get("COLLECTORD_SHARED") or CHECKOUT.parent / "shared") / "clients"
    if not (folder / "scripted_model.py").is_file():
        pytest.skip(f"no scripted model in {folder}")
    return folder.resolve()


def clients() -> Path:
    """Return a folder in whose ``node_modules`` the client is, installing it once; or skip."""
    if shutil.which("node") is None:
        pytest.skip("the client needs node, and there is none")
    cache = platformdirs.user_cache_path("collectord-tests", appauthor=False) / "clients"
    named = os.environ.get("CLIENTS")
    for folder in [Path(named)] if named else [CHECKOUT.parent / "clients", cache]:
        if runs(folder):
            return folder.resolve()
    if named:
        pytest.skip(f"no client that runs in {named} (from CLIENTS)")
    install(cache)
    if not runs(cache):
        pytest.skip(f"the client that npm installed in {cache} does not run")
    return cache


def runs(folder: Path) -> bool:
    """Return whether the client in *folder* starts."""
    client = folder / "node_modules" / ".bin" / "claude"
    if not client.exists():
        return False
    try:
        done = subprocess.run([client, "--version"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def install(folder: Path) -> None:
    """Install the client with npm, or skip when that cannot be had."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("the client is installed with npm, and there is none")
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=60000"]
    steps = [
        [npm, "install", "--prefix", str(folder), *options, f"{PACKAGE}@{VERSION}"],
        [node, str(folder / "node_modules" / PACKAGE / "install.cjs")],
    ]
    for step in steps:
        if step[0] == node and (folder / "node_modules" / ".bin" / "claude").exists():
            return
        try:
            done = subprocess.run(step, capture_output=True, text=True, timeout=INSTALL_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"the client could not be installed: {error}")
        if done.returncode:
            pytest.skip(f"the client could not be installed: {done.stderr.strip()[-200:]}")


@contextmanager
def scripted_model(folder: Path, work: Path, *, steps: int, delay_s: float) -> Iterator[int]:
    """Run the scripted model on a free port of loopback; yield the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [sys.executable, str(folder / "scripted_model.py"), "--port", str(port)]
    command += ["--cwd", str(work), "--steps", str(steps), "--delay", str(delay_s)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while not answers(port):
            assert process.poll() is None, "the scripted model ended"
            assert time.monotonic() < deadline, "the scripted model does not answer"
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def answers(port: int) -> bool:
    """Return whether something listens on *port*."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def run_session(folder: Path, client: Path, home: Path, work: Path, port: int, *more: str) -> str:
    """Run one session of the client to its end; return what it said."""
    process = subprocess.Popen(
        [str(folder / "run_client.sh"), "claude", str(home), str(work), str(port), *more],
        env={**os.environ, "CLIENTS": str(client)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said, _ = process.communicate(timeout=90)
    except BaseException:
        process.kill()  # the script has become the client: it is this process
        process.wait(20)
        raise
    assert process.returncode == 0, said
    return said
