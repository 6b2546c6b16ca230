"""
Imports go down the floors, and only down.

The floors are read from the docstring of ``collectord``, so that it cannot drift from
what is held. An import counts wherever it stands: in a function, under TYPE_CHECKING,
as ``from collectord import x``, or as a name given to ``importlib``.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import collectord

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "collectord"
BUILT_IN = CHECKOUT / "adapters" / "collectord_adapters"
MODULES = sorted(PACKAGE.rglob("*.py"))
ADAPTER_MODULES = sorted(BUILT_IN.rglob("*.py"))

MAX_LINES = 400
"""A longer module has more than one idea."""

NAMELESS = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}

SIDE_ROOMS = {"reading": {"errors", "sessiondata", "landing"}}
"""Rooms that may use less than everything below them."""

FOR_ADAPTERS = {"errors", "sessiondata", "sources", "adapter"}


def floors() -> dict[str, int]:
    """Return each room's floor, as the package's docstring says."""
    rows = re.findall(r"^ *(\d+) {2,}([\w, ]+?) {2,}\S", collectord.__doc__ or "", re.MULTILINE)
    return {room.strip(): int(floor) for floor, rooms in rows for room in rooms.split(",")}


FLOORS = floors()


def imports_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of everything that *source* imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the floor"
            for name in node.names:
                yield node.lineno, f"{node.module}.{name.name}"
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            called = node.func.id if isinstance(node.func, ast.Name) else called
            given = node.args[0]
            if (
                called in ("import_module", "__import__")
                and isinstance(given, ast.Constant)
                and isinstance(given.value, str)
            ):
                yield node.lineno, given.value


def room_of(path: Path) -> str:
    """Return the room that a module of the package is in; the package's own root is ''."""
    top = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return {"__init__": "", "__main__": "cli"}.get(top, top)


def violations(source: str, room: str) -> list[str]:
    """Return the imports of *source*, a module of *room*, that are not downwards."""
    found = []
    for line, name in imports_of(source):
        package, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if package == "collectord_adapters":
            found.append(f"line {line}: {name} is an adapter")
        if package != "collectord" or target in ("", room, "__version__"):
            continue
        if target not in FLOORS:
            found.append(f"line {line}: {name} is on no floor")
        elif room in SIDE_ROOMS:
            if target not in SIDE_ROOMS[room]:
                found.append(f"line {line}: {name} is nothing that {room} may use")
        elif FLOORS[target] >= FLOORS.get(room, 0):
            found.append(f"line {line}: {name} is not below {room or 'the package root'}")
    return found


def adapter_violations(source: str) -> list[str]:
    """Return the imports of *source*, a module of an adapter, beyond the public floors."""
    return [
        f"line {line}: {name}"
        for line, name in imports_of(source)
        if name.split(".")[0] == "collectord"
        and [*name.split("."), ""][1] not in (*FOR_ADAPTERS, "__version__")
    ]


def ids(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


def test_the_floors_are_those_of_the_docstring() -> None:
    assert FLOORS["errors"] == 0 and FLOORS["cli"] == 10
    assert FLOORS["audit"] == FLOORS["daemon"] and FLOORS["reading"] == FLOORS["landing"]


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_every_module_is_on_a_floor_and_imports_only_from_below(path: Path) -> None:
    room = room_of(path)
    assert not room or room in FLOORS
    assert violations(path.read_text("utf-8"), room) == []


@pytest.mark.parametrize("path", ADAPTER_MODULES, ids=ids)
def test_the_built_in_adapters_use_what_a_stranger_may(path: Path) -> None:
    assert adapter_violations(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_no_built_in_adapter_is_named_outside_the_registry(path: Path) -> None:
    if path == PACKAGE / "adapter" / "registry.py":
        return  # it sorts the built-ins first, so that nobody takes their names
    assert "collectord_adapters" not in path.read_text("utf-8")


@pytest.mark.parametrize("path", MODULES + ADAPTER_MODULES, ids=ids)
def test_a_module_has_one_idea_and_a_name(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MAX_LINES
    assert not NAMELESS & {part.removesuffix(".py").lstrip("_") for part in path.parts[-3:]}


@pytest.mark.parametrize(
    "planted",
    [
        "from collectord.cli import main",
        "import collectord.cli.main",
        "import collectord.cli.main as door",
        "from collectord import cli",
        "from collectord import __version__, cli",
        "def late():\n    from collectord.daemon import run",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from collectord.daemon import run",
        "import importlib\nimportlib.import_module('collectord.pipeline')",
        "__import__('collectord.pipeline')",
        "try:\n    import collectord.watch\nexcept ImportError:\n    pass",
        "from collectord import nowhere",
        "from collectord_adapters.claude_code import ADAPTER",
        "import collectord_adapters",
    ],
)
def test_a_planted_violation_is_seen(planted: str) -> None:
    assert violations(planted, "landing")


@pytest.mark.parametrize(
    ("room", "planted"),
    [
        ("landing", "from collectord.reading import sessions"),
        ("reading", "from collectord.sources import Cursor"),
        ("audit", "from collectord.daemon import run"),
        ("", "from collectord.errors import CollectordError"),
    ],
)
def test_a_side_door_is_seen(room: str, planted: str) -> None:
    assert violations(planted, room)


def test_a_planted_violation_of_an_adapter_is_seen() -> None:
    assert adapter_violations("def late():\n    from collectord import landing")
    assert adapter_violations("import collectord.pipeline.queue")
    assert not adapter_violations(
        "from collectord.adapter import Adapter\nimport collectord.sources"
    )


def test_what_goes_down_is_allowed() -> None:
    assert not violations("from collectord.landing import LandingRoot", "reading")
    assert not violations("import os, collectord\nfrom collectord import __version__", "errors")
    assert not violations("from collectord.landing.chain import chain", "landing")


EVERYTHING = """
import importlib, pkgutil, sys
sys.modules["fcntl"] = None
import collectord, collectord_adapters
for package in (collectord, collectord_adapters):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
print(len(sys.modules))
"""


def test_every_module_can_be_imported_where_there_is_no_fcntl() -> None:
    """On Windows the package imports; more is not promised."""
    done = subprocess.run([sys.executable, "-c", EVERYTHING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
