"""Files fall due on time, however rarely it is looked."""

import uuid
from pathlib import Path

import pytest

from tests.daemon.living import Daemon, Home, append, record, until


@pytest.mark.parametrize(("idle", "age"), [("0s", "1h"), ("1s", "1h"), ("5m", "1s")])
def test_a_file_is_sealed_when_it_is_due_whenever_it_was_opened(
    tmp_path: Path, idle: str, age: str
) -> None:
    home = Home(tmp_path)
    with Daemon(home, LANDING__SEAL_AFTER_IDLE=idle, LANDING__SEAL_AFTER_AGE=age).ready() as daemon:
        for number in range(2):
            append(home.path(str(uuid.uuid4())), record(number) + b"\n")
            until(lambda n=number: len(sealed(home)) == n + 1, 5)  # type: ignore[misc]
            assert home.still_open() == []
        assert daemon.end(15) == 0
    assert home.landed() == home.written()
    assert len(home.files()) == 2


def sealed(home: Home) -> list[Path]:
    return list(home.root.rglob("*.sd"))
