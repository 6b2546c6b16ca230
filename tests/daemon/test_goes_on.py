"""After a kill, the daemon goes on in the files that it left open, under their numbers."""

import signal
import uuid
from pathlib import Path

from tests.daemon.living import Daemon, Home, append, record, until

SESSIONS = 60


def test_open_files_go_on_after_a_kill(quick_tmp: Path) -> None:
    home = Home(quick_tmp)
    paths = [home.path(str(uuid.uuid4())) for _ in range(SESSIONS)]
    for path in paths:
        append(path, record(1) + b"\n")
    with Daemon(home).ready() as daemon:
        until(lambda: home.landed().total() == SESSIONS)
        daemon.end(signal.SIGKILL)
    assert len(home.still_open()) == SESSIONS
    for path in paths:
        append(path, record(2) + b"\n")
    with Daemon(home).ready() as daemon:
        until(lambda: home.landed().total() == 2 * SESSIONS)
        assert daemon.end(signal.SIGTERM) == 0
    assert home.landed() == home.written()
    assert len(home.files()) == SESSIONS
