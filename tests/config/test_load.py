"""The configuration: four places, one answer, every fault at once."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectord.config import Config, Flag, default_root, examine, load, variable
from collectord.config.model import SECTIONS, Setting, settings_of
from collectord.config.values import from_toml, to_toml
from collectord.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "collectord.toml"


def faults_of(file: Path, text: str) -> list[str]:
    file.write_text(text)
    loaded, faults = examine(file, environ={})
    assert faults
    assert loaded.config == Config()
    return [fault.removeprefix(f"{file}:") for fault in faults]


def test_no_file_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nothing"))
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_, **__: tmp_path / "nothing")

    loaded = load(environ={})

    assert loaded.config == Config()
    assert loaded.config.landing.root == default_root()
    assert not loaded.file_exists
    assert set(loaded.origins.values()) == {"default"}


def test_a_file_that_was_named_has_to_exist(file: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such configuration file"):
        load(file, environ={})
    with pytest.raises(ConfigError, match="there is no such configuration file"):
        load(environ={"COLLECTORD_CONFIG": str(file)})


def test_a_folder_is_no_configuration_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load(tmp_path, environ={})


def test_each_place_wins_over_the_ones_before_it(file: Path) -> None:
    file.write_text(
        '[landing]\nroot = "/a"\nfsync = "never"\nmode = "shared"\n[watch]\nsettle = 2\n'
    )
    environ = {"COLLECTORD_LANDING__ROOT": "/b", "COLLECTORD_LANDING__FSYNC": "append"}

    loaded = load(file, environ=environ, flags=[Flag("landing.root", "/c", "--root")])

    landing = loaded.config.landing
    assert (str(landing.root), landing.fsync, landing.mode) == ("/c", "append", "shared")
    assert loaded.config.watch.settle_s == 2
    assert loaded.origins["landing.root"] == "--root"
    assert loaded.origins["landing.fsync"] == "COLLECTORD_LANDING__FSYNC"
    assert loaded.origins["landing.mode"] == f"{file}:4"
    assert loaded.origins["watch.settle"] == f"{file}:6"
    assert loaded.origins["watch.method"] == "default"


def test_every_key_can_be_set_in_the_file_and_in_the_environment(file: Path) -> None:
    """A key that one of them forgot would stay at its default."""
    samples = {
        "root": '"/r"', "owner": '"me"', "max_file_bytes": "8192", "seal_after_idle": '"7s"',
        "seal_after_age": '"7m"', "fsync": '"never"', "closing_line": "true", "mode": '"shared"',
        "method": '"poll"', "poll_every": '"7s"', "rescan_every": '"7s"', "settle": '"7s"',
        "enabled": "false", "roots": '["/x"]', "include": '["a*"]', "exclude": '["b*"]',
        "convert_bytes": '"1 MiB"', "level": '"error"', "format": '"json"',
    }  # fmt: skip
    text, environ = "", {}
    for name, section in SECTIONS.items():
        table = "adapters.my-agent" if name == "adapters" else name
        text += f"[{table}]\n"
        for setting in settings_of(section):
            value = samples[setting.key]
            text += f"{setting.key} = {value}\n"
            environ[variable(f"{table}.{setting.key}")] = value.strip('[]"')
    file.write_text(text)

    from_file = load(file, environ={})
    file.write_text("")
    from_environment = load(file, environ=environ)

    assert from_file.config == from_environment.config
    assert "default" not in from_file.origins.values()
    assert "default" not in from_environment.origins.values()
    assert not from_file.warnings
    assert not from_environment.warnings
    default = Config()
    for name in ("landing", "watch", "limits", "log"):
        for setting in settings_of(SECTIONS[name]):
            changed = getattr(getattr(from_file.config, name), setting.attribute)
            assert changed != getattr(getattr(default, name), setting.attribute)


def test_all_faults_are_found_in_one_run_with_their_lines(file: Path) -> None:
    text = """\
[landing]
root = "relative"
max_file_bytes = "2 bananas"
fsync = "seel"
closing_line = "yes"

[watch]
poll_every = "soon"
rescan_every = 0

[adapters.x]
roots = "~/x"

[limits]
convert_bytes = 12

[log]
level = 3
"""
    assert faults_of(file, text) == [
        '2: landing.root is "relative"; wanted an absolute path, or one that starts with ~',
        '3: landing.max_file_bytes is "2 bananas"; wanted a size such as "512 KiB" or "2 MiB", '
        "or bytes as a number",
        '4: landing.fsync is "seel"; wanted one of seal, append, never; did you mean seal?',
        '5: landing.closing_line is "yes"; wanted true or false',
        '8: watch.poll_every is "soon"; wanted a duration such as "90s", "5m" or "1h30m", '
        "or seconds as a number",
        "9: watch.rescan_every is 0; wanted at least 1s",
        '12: adapters.x.roots is "~/x"; wanted a list of folders such as ["~/sessions"]',
        "15: limits.convert_bytes is 12; wanted at least 4 KiB",
        "18: log.level is 3; wanted one of debug, info, warning, error",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("landing = 3\n", "1: landing is 3; wanted a table"),
        ("[adapters]\nx = 3\n", "2: adapters.x is 3; wanted a table"),
        ("[landing]\n\nroot\n", "3: not valid TOML: expected '=' after a key"),
        ('[landing]\nroot = "x', "2: not valid TOML: "),
        ("[landing]\n[landing]\n", "2: not valid TOML: cannot declare"),
        ("landing.fsync = 1\n", "1: landing.fsync is 1; wanted one of"),
        ("\nlanding = {fsync = 1}\n", "2: landing.fsync is 1; wanted one of"),
        ('["landing"]\n"fsync" = 1\n', "2: landing.fsync is 1; wanted one of"),
        ("[[landing]]\nfsync = 1\n", "1: landing is "),
        ("[landing]\nroot = '~nobody-of-this-name/x'\n", "2: landing.root is "),
        ('[landing]\nroot = "a\\u0000b"\n', "2: landing.root is "),
        ("[watch]\nsettle = nan\n", "2: watch.settle is nan; wanted a duration"),
        ("[watch]\nsettle = inf\n", "2: watch.settle is inf; wanted a duration"),
        ("[watch]\nsettle = true\n", "2: watch.settle is true; wanted a duration"),
        ("x = " + "[" * 5000, " not valid TOML: nested too deeply"),
        ("x = " + "1" * 5000, "1: not valid TOML: exceeds the limit"),
        ("[watch]\nsettle = " + "1" * 400, "2: watch.settle is 111"),
        ("[adapters.x]\nexclude = [3]\n", "2: adapters.x.exclude is [3]; wanted a list of"),
    ],
)
def test_a_fault_names_its_line_what_was_found_and_what_was_wanted(
    file: Path, text: str, fault: str
) -> None:
    [found] = faults_of(file, text)
    assert found.startswith(fault)


def test_bytes_that_are_not_utf8_are_a_fault_with_their_line(file: Path) -> None:
    file.write_bytes(b"[landing]\n# \xff\n")
    _, faults = examine(file, environ={})
    assert faults == (f"{file}:2: not UTF-8, as TOML has to be",)


def test_a_byte_order_mark_is_no_fault(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf[landing]\r\nmode = 'shared'\r\n")
    assert load(file, environ={}).config.landing.mode == "shared"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("[lannding]\n", "1: unknown table lannding; did you mean landing?"),
        ("x = 1\n", "1: unknown key x"),
        ("[redact]\nx = 1\n", "1: unknown table redact"),
        ("[landing]\nrooot = 1\n", "2: unknown key landing.rooot; did you mean landing.root?"),
        ("[log]\nmode = 1\n", "2: unknown key log.mode; did you mean landing.mode?"),
        ("[watch]\nsettle_s = 1\n", "2: unknown key watch.settle_s; did you mean watch.settle?"),
        (
            "[adapters.x]\nexlude = []\n",
            "2: unknown key adapters.x.exlude; did you mean adapters.x.exclude?",
        ),
    ],
)
def test_an_unknown_key_is_a_warning_that_names_the_nearest(
    file: Path, text: str, warning: str
) -> None:
    file.write_text(text)
    loaded = load(file, environ={})
    assert loaded.warnings == (f"{file}:{warning}",)
    assert loaded.config.landing == Config().landing


def test_an_unknown_variable_is_a_warning_and_other_peoples_variables_are_not(file: Path) -> None:
    file.write_text("")
    environ = {
        "COLLECTORD_LANDIN__ROOT": "/x",
        "COLLECTORD_ROOT": "/x",
        "COLLECTORD_DEBUG": "1",
        "COLLECTORD_STATE_DIR": "/s",
        "OTHER__ROOT": "/x",
    }
    assert load(file, environ=environ).warnings == (
        "COLLECTORD_LANDIN__ROOT: no such setting; did you mean COLLECTORD_LANDING__ROOT?",
        "COLLECTORD_ROOT: no such setting; did you mean COLLECTORD_LANDING__ROOT?",
    )


def test_faults_come_before_warnings_in_one_error(file: Path) -> None:
    file.write_text("[landing]\nrooot = 1\nmode = 1\n")
    with pytest.raises(ConfigError) as caught:
        load(file, environ={"COLLECTORD_LOG__LEVEL": "loud"})
    assert [problem.rpartition(";")[0] for problem in caught.value.problems] == [
        f"{file}:3: landing.mode is 1",
        'COLLECTORD_LOG__LEVEL is "loud"',
        f"{file}:2: unknown key landing.rooot",
    ]


def test_an_empty_variable_sets_nothing(file: Path) -> None:
    file.write_text("[landing]\nroot = '/a'\n")
    loaded = load(file, environ={"COLLECTORD_LANDING__ROOT": ""})
    assert loaded.config.landing.root == Path("/a")


def test_a_tilde_is_the_home_and_other_relative_paths_start_where_the_person_is(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.chdir(tmp_path)
    file.write_text("[landing]\nroot = '~/there'\n")

    assert load(file, environ={}).config.landing.root == Path("/home/somebody/there")
    loaded = load(file, environ={}, flags=[Flag("landing.root", "../x", "--root")])
    assert loaded.config.landing.root == tmp_path.parent / "x"


def test_a_variable_names_an_adapter_without_its_hyphens(file: Path) -> None:
    file.write_text("[adapters.my_agent]\nenabled = false\n")
    environ = {
        "COLLECTORD_ADAPTERS__MY_AGENT__ROOTS": f"/a{os.pathsep}/b",
        "COLLECTORD_ADAPTERS__CLAUDE_CODE__EXCLUDE": "x*, y*",
    }
    adapters = load(file, environ=environ).config.adapters
    assert set(adapters) == {"my_agent", "claude-code"}
    assert adapters["my_agent"].roots == (Path("/a"), Path("/b"))
    assert not adapters["my_agent"].enabled
    assert adapters["claude-code"].exclude == ("x*", "y*")


def test_an_adapter_that_is_not_installed_is_named_when_asked(file: Path) -> None:
    file.write_text("[adapters.x]\nenabled = false\n")
    assert load(file, environ={}).warnings == ()
    assert load(file, environ={}, adapters=["codex"]).warnings == (
        f"{file}:1: no adapter is called 'x' (known: codex)",
    )


def test_the_landing_root_may_not_lie_in_a_root_that_is_collected(file: Path) -> None:
    file.write_text("[landing]\nroot = '/a/b'\n[adapters.x]\nroots = ['/a']\n")
    _, faults = examine(file, environ={})
    [fault] = faults
    assert fault.startswith(f"{file}:4: adapters.x.roots holds /a, and the landing root /a/b")


def test_include_and_exclude_are_patterns_on_the_whole_src() -> None:
    file = Config().adapter("nobody")
    assert file.wants("a/b.jsonl")
    narrowed = type(file)(include=("a/*",), exclude=("*/secret-*",))
    assert narrowed.wants("a/b/c.jsonl")
    assert not narrowed.wants("b/c.jsonl")
    assert not narrowed.wants("a/b/secret-c.jsonl")


values = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(), st.just("~"), st.dates()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=2)
    ),
    max_leaves=5,
)
settings = [each for section in SECTIONS.values() for each in settings_of(section)]


@given(setting=st.sampled_from(settings), value=values)
def test_any_value_is_taken_or_refused_with_what_was_wanted(
    setting: Setting, value: object
) -> None:
    try:
        taken = from_toml(setting, value)
    except ValueError as error:
        assert str(error).startswith("wanted ")
    else:
        assert from_toml(setting, tomllib.loads(f"x = {to_toml(setting, taken)}")["x"]) == (
            pytest.approx(taken) if setting.unit == "duration" else taken
        )
