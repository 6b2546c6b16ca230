"""Plug-ins are found by their entry points; a broken one is refused by name, the others load."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collectord.adapter import Registry, load_registry
from tests.adapter.plugins import guide_example, install

GOOD = guide_example()


def renamed(name: str) -> str:
    return GOOD.replace('"diary-local"', f'"{name}"')


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for plug-ins, on the path for one test; its modules are forgotten after it."""
    monkeypatch.syspath_prepend(tmp_path)
    before = {*sys.modules}
    yield tmp_path
    for name in {*sys.modules} - before:
        del sys.modules[name]


def reason(registry: Registry, name: str) -> str:
    """Return the one sentence that says why *name* is refused."""
    (refused,) = [each for each in registry.refused if each.name == name]
    text = str(refused)
    assert text.startswith(f"adapter plug-in {name!r} of ") and "\n" not in text
    return text


def test_a_stranger_s_plug_in_is_found(site: Path) -> None:
    install(site, "collectord-diary", {"diary": "collectord_diary:ADAPTER"}, collectord_diary=GOOD)
    registry = load_registry()
    plugin = registry.get("diary")
    assert plugin is not None and plugin is registry.get("diary-local")
    assert plugin.distribution == "collectord-diary 1.0"
    assert plugin.adapter.title == "Diary"
    assert "diary" not in {refused.name for refused in registry.refused}


BROKEN = {
    "raises": ("raise RuntimeError('no\\nmore')", "RuntimeError while it was loaded: no"),
    "leaves": ("import sys; sys.exit(3)", "SystemExit while it was loaded: 3"),
    "absent": (None, "No module named 'absent'"),
    "syntax": ("def", "SyntaxError while it was loaded"),
    "without": ("OTHER = 1", "has no attribute 'ADAPTER'"),
    "number": ("ADAPTER = 1", "no Adapter: it has no name, version"),
    "half": (GOOD.replace("def locate", "def find"), "it has no locate"),
    "mute": (
        GOOD.replace("    dialect = DiaryDialect()", "    dialect = 1"),
        "its dialect is none",
    ),
    "empty": (renamed(""), "its name is ''"),
    "spaced": (renamed("a b"), "its name is 'a b'"),
    "counted": (GOOD.replace('"diary-local"', "5"), "its name is 5"),
    "unversioned": (GOOD.replace('"0.1.0"', '""'), "its version is ''"),
    "untitled": (GOOD.replace('"Diary"', '"a\\nb"'), "its title is 'a\\nb'"),
    "angry": (
        GOOD.replace(
            '    title = "Diary"', "    @property\n    def title(self): raise OSError('x')"
        ),
        "OSError while it was loaded: x",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plug_in_is_refused_by_name_and_the_others_load(site: Path, name: str) -> None:
    source, wanted = BROKEN[name]
    install(site, "a-broken", {name: f"{name}:ADAPTER"}, **({name: source} if source else {}))
    install(site, "collectord-diary", {"diary": "collectord_diary:ADAPTER"}, collectord_diary=GOOD)
    registry = load_registry()
    assert wanted in reason(registry, name)
    assert registry.get(name) is None and registry.get("diary") is not None


@pytest.mark.parametrize(
    ("key", "name"),
    [("a", "diary-local"), ("z-diary", "a"), ("diary-local", "a"), ("a", "z-diary")],
)
def test_nobody_takes_a_name_of_a_built_in_adapter(site: Path, key: str, name: str) -> None:
    install(site, "first", {"z-diary": "collectord_adapters.diary_of_ours:ADAPTER"})
    install(site, "second", {key: "a_second:ADAPTER"}, a_second=renamed(name))
    ours = type(sys)("collectord_adapters.diary_of_ours")
    exec(GOOD, ours.__dict__)
    sys.modules[ours.__name__] = ours
    registry = load_registry()
    found = [plugin for plugin in registry.plugins if plugin.adapter.title == "Diary"]
    assert [plugin.distribution for plugin in found] == ["first 1.0"]
    assert "first 1.0 already brings an adapter named" in reason(registry, key)
