"""``collectord config`` and ``collectord adapters``, as a person uses them."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from collectord.adapter import Plugin, Registry
from collectord.cli.main import execute
from collectord.cli.settings import Settings
from collectord.config.render import render_sample
from collectord.errors import PluginRefused


class FakeDialect:
    name = "fake/1"


class FakeAdapter:
    """What the commands ask of an adapter."""

    name = "fake-local"
    version = "0.1.0"
    title = "Fake Agent"
    dialect = FakeDialect()

    def roots(self, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        return [home / ".fake", *([Path(environ["FAKE_HOME"])] if "FAKE_HOME" in environ else [])]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in list(os.environ):
        if name.startswith("COLLECTORD_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    adapter: Any = FakeAdapter()
    registry = Registry(
        (Plugin("fake", adapter, "fake-dist 1.0"),),
        (PluginRefused("broken", "other-dist 2.0", "ImportError while it was loaded"),),
    )
    monkeypatch.setattr("collectord.adapter.load_registry", lambda: registry)
    return tmp_path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "c.toml"


def test_show_says_where_each_value_comes_from(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text('[landing]\nmode = "shared"\n')
    monkeypatch.setenv("COLLECTORD_WATCH__METHOD", "poll")

    assert execute(["config", "show", "--config", str(file), "--root", "/r"]) == 0

    out = capsys.readouterr().out
    rows = {parts[0]: parts[1:] for line in out.splitlines() if (parts := line.split())}
    assert rows["file"] == [str(file)]
    assert rows["landing.root"] == ['"/r"', "--root"]
    assert rows["landing.mode"] == ['"shared"', "line", "2"]
    assert rows["watch.method"] == ['"poll"', "COLLECTORD_WATCH__METHOD"]
    assert rows["landing.fsync"] == ['"seal"', "default"]


def test_config_alone_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["config"]) == 0
    alone = capsys.readouterr().out
    assert execute(["config", "show"]) == 0
    assert capsys.readouterr().out == alone
    assert "not there; the defaults hold" in alone


@pytest.mark.parametrize("arguments", [["--json", "config"], ["config", "show", "--json"]])
def test_show_as_json_is_an_object_a_key(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(arguments) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_key = {row["key"]: row for row in rows}
    idle = by_key["landing.seal_after_idle"]
    assert idle == {"key": "landing.seal_after_idle", "value": 300.0, "origin": "default"}


def test_show_of_a_wrong_file_names_everything_and_ends_with_78(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text('[landing]\nmode = "x"\nfsync = "y"\n')
    assert execute(["config", "--config", str(file)]) == 78
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.partition(";")[0] for line in err.splitlines()] == [
        f'collectord: {file}:2: landing.mode is "x"',
        f'collectord: {file}:3: landing.fsync is "y"',
    ]


def test_check_calls_an_unknown_key_and_an_unknown_adapter_mistakes(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("[adapters.broken]\n[adapters.fake]\nrots = []\n[adapters.fak]\n")
    assert execute(["config", "--config", str(file), "check"]) == 78
    assert capsys.readouterr().err.splitlines() == [
        f"collectord: {file}:3: unknown key adapters.fake.rots; did you mean adapters.fake.roots?",
        f"collectord: {file}:4: no adapter is called 'fak' (known: broken, fake, fake-local)",
    ]


def test_check_of_a_right_file_and_of_none(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("[adapters.fake]\nenabled = false\n")
    assert execute(["config", "check", "--config", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: no mistakes\n"
    assert execute(["config", "check"]) == 0
    assert "the defaults hold" in capsys.readouterr().out


def test_check_as_json_lists_the_problems(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("[lannding]\n")
    assert execute(["config", "check", "--json", "--config", str(file)]) == 78
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out)["problems"] == [
        f"{file}:1: unknown table lannding; did you mean landing?"
    ]


def test_init_writes_the_sample_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["config", "path"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert not path.exists()

    assert execute(["config", "init"]) == 0
    assert str(path) in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == render_sample()

    path.write_text("mine", encoding="utf-8")
    assert execute(["config", "init"]) == 73
    assert "--force" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "mine"

    assert execute(["config", "init", "--force"]) == 0
    assert path.read_text(encoding="utf-8") == render_sample()
    assert execute(["config", "check"]) == 0


def test_init_writes_the_file_that_was_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert execute(["--config", str(file), "config", "init"]) == 0
    assert file.read_text(encoding="utf-8") == render_sample()
    other = file.with_name("other.toml")
    monkeypatch.setenv("COLLECTORD_CONFIG", str(other))
    assert execute(["config", "init"]) == 0
    assert other.read_text(encoding="utf-8") == render_sample()


def test_adapters_shows_roots_and_why_one_was_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".fake").mkdir()
    monkeypatch.setenv("FAKE_HOME", "/nowhere/fake")
    monkeypatch.setenv("COLLECTORD_ADAPTERS__FAKE__ROOTS", "/nowhere/more")
    assert execute(["adapters"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "fake  Fake Agent",
        "  adapter  fake-local/0.1.0, dialect fake/1",
        "  from     fake-dist 1.0",
        f"  root     {home}/.fake",
        "  root     /nowhere/fake  (not there yet)",
        "  root     /nowhere/more  (not there yet, from the configuration)",
        "",
        "Refused:",
        "  broken  of other-dist 2.0: ImportError while it was loaded",
    ]


def test_adapters_as_json_is_an_object_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLLECTORD_ADAPTERS__FAKE__ENABLED", "no")
    assert execute(["adapters", "--json"]) == 0
    fake, broken = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (fake["key"], fake["dialect"], fake["enabled"]) == ("fake", "fake/1", False)
    assert fake["roots"][0]["exists"] is False
    assert broken["refused"] == "ImportError while it was loaded"


def test_an_adapter_that_is_not_installed_is_answered_with_those_that_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert execute(["adapters", "--adapter", "nope"]) == 64
    assert "no adapter is called 'nope'; the installed ones are fake" in capsys.readouterr().err
    assert execute(["adapters", "--adapter", "broken"]) == 70
    assert "ImportError" in capsys.readouterr().err
    assert execute(["adapters", "--adapter", "fake", "--adapter", "fake-local", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_is_collected_is_what_is_named_else_what_is_enabled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def collected(*named: str) -> list[str]:
        settings = Settings()
        settings.adapter_keys = named
        return [plugin.key for plugin in settings.plugins]

    assert collected() == ["fake"]
    monkeypatch.setenv("COLLECTORD_ADAPTERS__FAKE_LOCAL__ENABLED", "no")
    assert collected() == []
    assert collected("fake-local") == ["fake"]


def test_a_plugin_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(FakeAdapter, "roots", lambda *_: 1 / 0)
    assert execute(["adapters"]) == 70
    assert capsys.readouterr().err.startswith(
        "collectord: adapter plug-in 'fake' of fake-dist 1.0 is refused: ZeroDivisionError"
    )
