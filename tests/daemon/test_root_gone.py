"""The landing root is taken away from under the daemon: said, ended, and landed again."""

import shutil
import uuid
from pathlib import Path

import pytest

from tests.daemon.living import Daemon, Home, append, record, until


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize("way", ["removed", "moved away", "replaced"])
@pytest.mark.parametrize("is_noticed_by", ["the next record", "the next walk"])
def test_a_root_that_is_gone_ends_it_with_75_and_the_next_start_lands_all(
    home: Home, way: str, is_noticed_by: str
) -> None:
    first = home.path(str(uuid.uuid4()))
    rescan = "1s" if is_noticed_by == "the next walk" else "10m"
    with Daemon(home, WATCH__RESCAN_EVERY=rescan).ready() as daemon:
        append(first, record(1) + b"\n")
        until(lambda: home.landed().total() == 1)
        if way == "removed":
            shutil.rmtree(home.root)
        else:
            home.root.rename(home.root.with_name("moved"))
        if way == "replaced":
            (home.root / ".collectord").mkdir(parents=True)
            (home.root / ".collectord" / "lock").touch()
        if is_noticed_by == "the next record":
            append(home.path(str(uuid.uuid4())), record(2) + b"\n")
        assert daemon.process.wait(15) == 75
        said = daemon.log.read_text("utf-8")
    assert f"collectord: {home.root}: removed or replaced while collectord was writing" in said
    assert "Traceback" not in said
    with Daemon(home).ready() as daemon:
        until(lambda: home.landed() == home.written())
        assert daemon.end(15) == 0
    assert home.landed() == home.written()
    assert home.still_open() == []


def test_a_signal_after_the_root_is_gone_seals_nothing_and_says_so(home: Home) -> None:
    with Daemon(home, WATCH__RESCAN_EVERY="10m").ready() as daemon:
        append(home.path(str(uuid.uuid4())), record(1) + b"\n")
        until(lambda: home.landed().total() == 1)
        moved = home.root.rename(home.root.with_name("moved"))
        assert daemon.end(15) == 75
    assert list(moved.rglob("*.open"))
    assert not home.root.exists()
