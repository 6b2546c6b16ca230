"""What all tests share."""

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

# A busy computer is slow, not wrong: no example is timed.
settings.register_profile("collectord", deadline=None)
settings.load_profile("collectord")


@pytest.fixture(autouse=True)
def _quiet_logs() -> Iterator[None]:
    """Keep what is logged out of the output, and every test's set-up its own."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


@pytest.fixture
def quick_tmp(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder in memory where there is one: for tests that sync many times."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory, prefix="collectord-test-") as folder:
        yield Path(folder)


@pytest.fixture
def anyio_backend() -> str:
    """The daemon runs on asyncio only."""
    return "asyncio"
