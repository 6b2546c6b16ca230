"""What all tests share."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

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
def anyio_backend() -> str:
    """The daemon runs on asyncio only."""
    return "asyncio"
