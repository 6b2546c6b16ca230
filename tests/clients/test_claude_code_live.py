"""A real Claude Code client works while ``collectord run`` watches its home."""

import json
import signal
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.claude_code import clients, run_session, scripted_model, shared
from tests.clients.stopwatch import Stopwatch
from tests.daemon.living import Daemon, Home, until

pytestmark = pytest.mark.client

WITHIN_S = 1.0


def test_each_line_of_a_real_client_is_in_one_record_within_a_second(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    model, client = shared(), clients()
    home, work = Home(tmp_path), tmp_path / "work"
    work.mkdir()
    with (
        scripted_model(model, work, steps=12, delay_s=0.05) as port,
        Daemon(home).ready() as daemon,
        Stopwatch(home.projects, home.root) as stopwatch,
    ):
        said = run_session(model, client, home.folder, work, port)
        assert "All done" in said
        run_session(model, client, home.folder, work, port, "MAINTASK: and again", "-c")
        until(lambda: home.landed().total() == home.written().total() + len(sidecars(home)))
        assert daemon.end(signal.SIGTERM) == 0
    written = home.written()
    landed = home.landed()

    streams = {place.stream for place in written}
    assert "main" in streams and len(streams) > 1, "the client starts a child agent"
    assert written - landed == {}, "every line is landed"
    beyond = landed - written
    assert beyond.total() == len(sidecars(home)) > 0, "nothing is landed twice"
    assert {place.stream for place in beyond} <= streams
    assert home.still_open() == []

    latencies = stopwatch.latencies()
    assert len(latencies) == written.total()
    figures = f"{len(latencies)} lines, median {statistics.median(latencies) * 1000:.1f} ms"
    figures += f", slowest {max(latencies) * 1000:.1f} ms"
    record_property("latency", figures)
    print("from written to readable:", figures)  # noqa: T201 - shown with -rP
    assert max(latencies) < WITHIN_S


def test_what_a_real_client_writes_is_described(tmp_path: Path) -> None:
    """No part of a session of the pinned version is one that the dialect does not know."""
    model, client = shared(), clients()
    home, work = Home(tmp_path), tmp_path / "work"
    work.mkdir()
    with (
        scripted_model(model, work, steps=1, delay_s=0) as port,
        Daemon(home).ready() as daemon,
    ):
        run_session(model, client, home.folder, work, port)
        until(lambda: home.landed().total() == home.written().total() + len(sidecars(home)))
        assert daemon.end(signal.SIGTERM) == 0
    records = [
        json.loads(line)
        for path in home.files()
        for line in path.read_text("utf-8").split("\n")[1:-1]
    ]
    parts = [part for record in records for part in record["parts"]]
    assert {"text", "reasoning", "call", "result", "data"} <= {part["k"] for part in parts}
    assert [part for part in parts if part["k"] == "unknown"] == []
    assert {record["from"] for record in records} == {"agent", "external", "runtime"}
    assert any(record.get("child") for record in records)


def sidecars(home: Home) -> list[Path]:
    return list(home.projects.rglob("*.meta.json"))
