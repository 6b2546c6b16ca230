"""Killed without a warning, again and again, while an agent writes: each line lands once."""

import random
import shutil
import signal
import threading
import time
import uuid
from pathlib import Path

from tests.daemon.living import Daemon, Home, append, record, until

KILLS = 20
SESSIONS = 4


def test_twenty_kills_under_a_live_writer_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    chance = random.Random(20)
    stop = threading.Event()
    writer = threading.Thread(target=write, args=(home, stop))
    writer.start()
    try:
        for round_ in range(KILLS):
            if round_ % 5 == 4:
                shutil.rmtree(home.state, ignore_errors=True)  # a cache: nothing may depend on it
            with Daemon(home, LANDING__MAX_FILE_BYTES="8 KiB") as daemon:
                if round_ % 4:
                    daemon.ready()
                # In its start, its recovery, its work.
                time.sleep(0.3 * chance.random())
                assert daemon.end(signal.SIGKILL) == -signal.SIGKILL
            assert max(home.landed().values(), default=1) == 1
    finally:
        stop.set()
        writer.join()
    written = home.written()
    with Daemon(home).ready() as daemon:
        until(lambda: home.landed().total() >= written.total())
        assert daemon.end(signal.SIGTERM) == 0
    assert home.landed() == written
    assert len(home.files()) > 2 * SESSIONS, "the test wants files that were sealed under way"
    check_numbers(home)


def write(home: Home, stop: threading.Event) -> None:
    """Write as agents do: many small lines, now and then in two halves."""
    chance = random.Random(1)
    paths = [
        home.path(str(uuid.UUID(int=chance.getrandbits(128), version=4))) for _ in range(SESSIONS)
    ]
    number = 0
    while not stop.is_set():
        number += 1
        line = record(number, width=chance.randrange(300)) + b"\n"
        path = chance.choice(paths)
        cut = chance.randrange(len(line)) if chance.random() < 0.2 else 0
        if cut:
            append(path, line[:cut])
            stop.wait(0.02)
        append(path, line[cut:])
        stop.wait(0.002)


def check_numbers(home: Home) -> None:
    """Assert that each session's files are numbered 1 to n."""
    numbers: dict[str, list[int]] = {}
    for path in home.files():
        session = path.relative_to(home.root).parts[0]
        numbers.setdefault(session, []).append(int(path.name.split("-")[2].split(".")[0]))
    for session, found in numbers.items():
        assert sorted(found) == list(range(1, len(found) + 1)), session
