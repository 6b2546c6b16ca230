"""The log: a closed list of events, the same in the code and in the docs."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from collectord.logs import EVENTS

CHECKOUT = Path(__file__).parents[1]

LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "ainfo", "awarning"}


def logged_events(tree: ast.AST) -> list[object]:
    """Return the first argument of each ``log.<level>(…)`` of a module."""
    found: list[object] = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        holder = node.func.value
        name = getattr(holder, "id", getattr(holder, "attr", ""))
        if node.func.attr in LEVELS and name.strip("_").lower() in {"log", "logger"}:
            first = node.args[0] if node.args else None
            found.append(first.value if isinstance(first, ast.Constant) else ast.dump(node))
    return found


def test_every_event_that_is_logged_is_in_the_table() -> None:
    modules = [*CHECKOUT.glob("collectord/**/*.py"), *CHECKOUT.glob("adapters/**/*.py")]
    assert len(modules) > 20
    for module in modules:
        for event in logged_events(ast.parse(module.read_text(encoding="utf-8"))):
            assert event in EVENTS, f"{module.relative_to(CHECKOUT)} logs {event}"


def test_the_search_for_events_sees_each_way_of_logging() -> None:
    code = "log.info('a.b', x=1)\nself._log.warning('c.d')\nlogger.error(f'{x}')\nmath.info('e')"
    found = logged_events(ast.parse(code))
    assert found[:2] == ["a.b", "c.d"]
    assert len(found) == 3
    assert found[2] not in EVENTS


def test_events_are_named_noun_dot_participle() -> None:
    for event, meaning in EVENTS.items():
        assert re.fullmatch(r"[a-z]+\.[a-z]+", event)
        assert meaning.endswith(".")


def test_the_events_in_the_docs_are_those_in_the_code() -> None:
    page = (CHECKOUT / "docs" / "configuration.md").read_text(encoding="utf-8")
    section = page.partition("## What is logged")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", section, re.MULTILINE))
    assert rows == dict(EVENTS)


@pytest.mark.parametrize("format_", ["auto", "json"])
def test_logs_are_json_lines_when_nobody_is_watching(format_: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from collectord import logs; import structlog\n"
            f"logs.configure('info', {format_!r})\n"
            "structlog.get_logger().debug('file.opened')\n"
            "structlog.get_logger().info('file.sealed', seq=3)",
        ],
        capture_output=True,
        check=True,
        cwd=CHECKOUT,
    )
    [line] = done.stderr.splitlines()
    logged = json.loads(line)
    assert (logged["event"], logged["seq"], logged["level"]) == ("file.sealed", 3, "info")
    assert logged["timestamp"].endswith("Z")
    assert done.stdout == b""
