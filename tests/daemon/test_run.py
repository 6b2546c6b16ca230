"""``collectord run`` as a process: ready, collecting within a second, ended in order."""

import os
import shutil
import signal
import stat
import time
import uuid
from pathlib import Path

import pytest

from tests.daemon.living import Daemon, Home, append, content, record, until

WITHIN_S = 1.0
"""From written to readable; a busy computer takes its time, and still holds this."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def session() -> str:
    return str(uuid.uuid4())


def test_a_record_can_be_read_within_a_second(home: Home) -> None:
    """In a folder that did not exist, in the same file again, and in a child's."""
    main = session()
    with Daemon(home).ready():
        for number, path in enumerate(
            [
                home.path(main),
                home.path(main),
                home.path(main, child="a0123456789abcdef"),
                home.path(session(), slug="-another"),
                home.path(main),
            ],
            start=1,
        ):
            append(path, record(number) + b"\n")
            took = until(lambda wanted=number: home.landed().total() == wanted)  # type: ignore[misc]
            assert took < WITHIN_S
    assert home.landed() == home.written()


def test_what_was_there_before_the_start_is_collected(home: Home) -> None:
    for number in range(50):
        append(home.path(session()), record(number) + b"\n" + record(number + 100) + b"\n")
    with Daemon(home).ready():
        until(lambda: home.landed().total() == 100)
    assert home.landed() == home.written()


def test_half_a_line_waits_for_its_end(home: Home) -> None:
    path, line = home.path(session()), record(2) + b"\n"
    append(path, record(1) + b"\n" + line[:-30])
    with Daemon(home).ready():
        until(lambda: home.landed().total() == 1)
        append(path, line[-30:-1])
        append(home.path(session(), slug="-other"), record(3) + b"\n")
        until(lambda: home.landed().total() == 2)
        assert home.landed() == home.written(), "the half line is no record"
        append(path, b"\n")
        until(lambda: home.landed().total() == 3)
    assert home.landed() == home.written()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_seals_everything_and_ends_it(home: Home, number: signal.Signals) -> None:
    with Daemon(home).ready() as daemon:
        for _ in range(5):
            append(home.path(session()), record(1) + b"\n" + b'{"half of a li')
        until(lambda: home.landed().total() == 5)
        assert len(home.still_open()) == 5
        assert daemon.end(number) == 0
        events = [each["event"] for each in daemon.events()]
    assert events[-1] == "daemon.stopped"
    assert home.still_open() == []
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.files()} == {0o400}
    assert home.landed() == home.written()


def test_it_goes_on_where_it_ended(home: Home) -> None:
    path = home.path(session())
    for number in range(4):
        append(path, record(number) + b"\n")
        with Daemon(home).ready() as daemon:
            until(lambda wanted=number: home.landed().total() == wanted + 1)  # type: ignore[misc]
            assert daemon.end(signal.SIGTERM) == 0
    assert home.landed() == home.written()
    assert len(home.files()) == 4


def test_a_signal_in_a_backfill_ends_it_soon_and_the_next_start_goes_on(home: Home) -> None:
    for number in range(300):
        append(home.path(session(), slug=f"-{number % 9}"), record(number) + b"\n")
    with Daemon(home).ready() as daemon:
        until(lambda: len(home.files()) > 20)
        began = time.monotonic()
        assert daemon.end(signal.SIGTERM) == 0
        assert time.monotonic() - began < 5
    assert 20 < home.landed().total() < 300, "the test wants an end in the middle"
    assert home.still_open() == []
    with Daemon(home).ready() as daemon:
        until(lambda: len(os.listdir(home.root)) == 301)
        until(lambda: home.landed().total() == 300)
    assert home.landed() == home.written()


def test_a_second_one_ends_at_once_and_names_the_first(home: Home) -> None:
    with Daemon(home).ready() as first, Daemon(home) as second:
        assert second.process.wait(20) == 75
        said = second.log.read_text("utf-8")
        assert f"pid {first.process.pid}" in said
        assert str(home.root) in said
        assert "Traceback" not in said
        append(home.path(session()), record(1) + b"\n")
        until(lambda: home.landed().total() == 1)  # the first one is not disturbed
        assert first.end(signal.SIGTERM) == 0


def test_a_root_that_appears_later_is_collected(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.projects.rmdir()
    home.projects.parent.rmdir()
    with Daemon(home, WATCH__RESCAN_EVERY="1s").ready():
        path = home.path(session())
        append(path, record(1) + b"\n")
        until(lambda: home.landed().total() == 1)
        append(path, record(2) + b"\n")
        assert until(lambda: home.landed().total() == 2) < WITHIN_S  # watched, not only walked
    assert home.landed() == home.written()


def test_a_root_that_is_replaced_is_watched_anew(home: Home) -> None:
    with Daemon(home, WATCH__RESCAN_EVERY="1s").ready():
        append(home.path(session()), record(1) + b"\n")
        until(lambda: home.landed().total() == 1)
        before = home.written()
        shutil.rmtree(home.projects)
        home.projects.mkdir()
        path = home.path(session())
        append(path, record(2) + b"\n")
        until(lambda: home.landed().total() == 2)
        append(path, record(3) + b"\n")
        assert until(lambda: home.landed().total() == 3) < WITHIN_S
    assert home.landed() == home.written() | before


def test_a_large_file_does_not_delay_a_live_session(home: Home) -> None:
    large, live = home.path(session(), slug="-large"), home.path(session(), slug="-live")
    block = b"".join(record(number, width=500) + b"\n" for number in range(1000))
    for _ in range(60):
        append(large, block)
    append(live, record(0) + b"\n")
    with Daemon(home).ready():
        until(lambda: live_records(home, live) == 1)
        waits: list[float] = []
        while landed_bytes(home, large) < 60 * len(block) and len(waits) < 10:
            append(live, record(len(waits)) + b"\n")
            wanted = len(waits) + 2
            waits.append(until(lambda n=wanted: live_records(home, live) == n))  # type: ignore[misc]
    assert waits, "the large file was read before anything else could be tried"
    assert max(waits) < WITHIN_S


def test_a_moved_project_goes_on_under_its_new_name(home: Home) -> None:
    main = session()
    before, after = home.path(main, slug="-before"), home.path(main, slug="-after")
    with Daemon(home).ready() as daemon:
        for number in range(3):
            append(before, record(number) + b"\n")
            append(home.path(main, slug="-before", child="a11"), record(10 + number) + b"\n")
        until(lambda: home.landed().total() == 6)
        before.parent.rename(after.parent)
        append(after, record(3) + b"\n")
        append(home.path(main, slug="-after", child="a11"), record(13) + b"\n")
        until(lambda: home.landed().total() == 8)
        assert daemon.end(signal.SIGTERM) == 0
    assert home.landed() == home.written()


def test_a_deleted_file_is_sealed_and_the_others_go_on(home: Home) -> None:
    gone, stays = home.path(session()), home.path(session())
    with Daemon(home).ready() as daemon:
        append(gone, record(1) + b"\n")
        append(stays, record(2) + b"\n")
        until(lambda: home.landed().total() == 2)
        wanted = home.written()
        gone.unlink()
        until(lambda: len(home.still_open()) == 1)
        append(stays, record(3) + b"\n")
        until(lambda: home.landed().total() == 3)
        assert daemon.end(signal.SIGTERM) == 0
    assert home.landed() == home.written() | wanted


def test_two_thousand_small_files_land_and_delay_no_live_session(home: Home) -> None:
    live = home.path(session(), slug="-live")
    with Daemon(home).ready() as daemon:
        append(live, record(0) + b"\n")
        until(lambda: home.landed().total() == 1)
        for number in range(2000):
            append(home.path(session(), slug=f"-storm-{number % 20}"), record(number) + b"\n")
            if number % 500 == 499:
                append(live, record(number) + b"\n")
                wanted = number // 500 + 2
                assert until(lambda n=wanted: live_records(home, live) == n) < WITHIN_S  # type: ignore[misc]
        until(lambda: len(os.listdir(home.root)) == 2002, 50, every_s=0.05)
        assert daemon.end(signal.SIGTERM) == 0
    assert home.landed() == home.written()


def test_few_descriptors_are_enough_for_many_sources(home: Home) -> None:
    paths = [home.path(session()) for _ in range(200)]
    for number, path in enumerate(paths):
        append(path, record(number) + b"\n")
    with Daemon(home, descriptors=128).ready() as daemon:
        until(lambda: home.landed().total() == 200)
        append(paths[0], record(1000) + b"\n")
        append(home.path(session()), record(1001) + b"\n")
        until(lambda: home.landed().total() == 202)
        assert daemon.end(signal.SIGTERM) == 0
        assert [each for each in daemon.events() if each["event"] == "source.failed"] == []
    assert home.landed() == home.written()


def live_records(home: Home, live: Path) -> int:
    """Return how many records of one session can be read, without reading the others."""
    return sum(content(path).count(b"\n") - 1 for path in home.files(live.stem))


def landed_bytes(home: Home, source: Path) -> int:
    """Return the size of the landed files of a session, which is about that of its source."""
    return sum(len(content(path)) for path in home.files(source.stem))
