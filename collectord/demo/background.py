"""
The real daemon, as a process of its own beside the demo.

It sees a home folder and an environment made for it, so neither the person's sessions
nor their configuration are touched. It is ended by its process id, and ends by itself
after `LIFETIME_S` even when the demo was killed and could not.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from collectord.errors import CollectordError

__all__ = ["LIFETIME_S", "Background", "DaemonFailed"]

LIFETIME_S: Final = 600
_READY_S: Final = 20.0
_STOP_S: Final = 10.0
_READY: Final = b'"event":"daemon.ready"'


class DaemonFailed(CollectordError):
    """The daemon of the demo did not do its part; the sentence holds what it said."""

    exit_code = 70


class Background:
    """A running ``collectord run``; leaving the block ends it."""

    def __init__(self, home: Path, root: Path, state_dir: Path, log: Path) -> None:
        self._log = log
        command = [sys.executable, "-m", "collectord", "run"]
        command += ["--root", str(root), "--state-dir", str(state_dir)]
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                cwd=home,
                env=_environment(os.environ, home),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,  # Ctrl-C is for the demo, which then ends it in order
                preexec_fn=_bound_lifetime if hasattr(signal, "alarm") else None,  # noqa: PLW1509 - no thread yet
            )

    def wait_ready(self) -> float:
        """
        Wait until it watches; return how long that took, in seconds.

        Raises:
            DaemonFailed: It ended, or said nothing in time.
        """
        began = time.monotonic()
        while _READY not in self._log.read_bytes():
            if not self.is_alive:
                raise DaemonFailed(f"the daemon ended at its start: {self._last_words()}")
            if time.monotonic() - began > _READY_S:
                raise DaemonFailed(f"the daemon was not ready within {_READY_S:.0f} s")
            time.sleep(0.01)
        return time.monotonic() - began

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """
        Ask it to seal and end, and wait for it.

        Raises:
            DaemonFailed: It did not end well.
        """
        self._process.terminate()
        try:
            code = self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise DaemonFailed(f"the daemon did not end within {_STOP_S:.0f} s") from None
        if code:
            raise DaemonFailed(f"the daemon ended with exit code {code}: {self._last_words()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.is_alive:
            self._process.terminate()
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _last_words(self) -> str:
        lines = self._log.read_text("utf-8", "replace").split("\n")
        said = [line for line in lines if line.strip()]
        errors = [line for line in said if line.startswith("collectord: ")]
        return (errors or said or ["it said nothing"])[-1].removeprefix("collectord: ")


def _environment(given: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return an environment that knows *home* and nothing of the person's own."""
    kept = {
        name: given[name]
        for name in ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR")
        if name in given
    }
    return {
        "PATH": os.defpath,
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "COLLECTORD_LOG__FORMAT": "json",
        "COLLECTORD_LOG__LEVEL": "info",
    }


def _bound_lifetime() -> None:
    """Set an alarm that outlives the exec: without a handler it ends the process."""
    signal.alarm(LIFETIME_S)
