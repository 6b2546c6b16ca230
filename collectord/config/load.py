"""
One configuration out of four places: the defaults, the file, the environment, the flags.

A later place wins, key by key, and each key remembers where its value came from. All
faults are found in one run, each a sentence with the place, what was found and what was
wanted. A key that nothing knows is a warning, so that a file may serve two versions.

Source: docs/configuration.md.
"""

import difflib
import os
import re
import tomllib
import typing
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from collectord.config.keylines import key_lines, line_of
from collectord.config.model import (
    ADAPTERS,
    SECTIONS,
    AdapterConfig,
    Config,
    Setting,
    settings_of,
)
from collectord.config.places import CONFIG_VARIABLE, default_config_file
from collectord.config.values import from_text, from_toml
from collectord.errors import ConfigError

__all__ = ["DEFAULT", "Examined", "Flag", "Loaded", "examine", "load", "variable"]

PREFIX: Final = "COLLECTORD_"
DEFAULT: Final = "default"
"""The origin of a value that nobody set."""

Key = tuple[str, ...]


class Flag(NamedTuple):
    """A value from the command line."""

    key: str
    """``landing.root``."""
    text: str
    name: str
    """What the person typed: ``--root``."""


class Loaded(NamedTuple):
    """A configuration, and where it came from."""

    config: Config
    file: Path
    """The file that was read, or would have been."""
    file_exists: bool
    origins: Mapping[str, str]
    """For each key (``landing.root``): `DEFAULT`, ``FILE:LINE``, a variable or a flag."""
    warnings: tuple[str, ...]


class Examined(NamedTuple):
    """Everything that was found, right or wrong."""

    loaded: Loaded
    """With the faulty values left at what they were before."""
    faults: tuple[str, ...]


def load(
    file: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Iterable[Flag] = (),
    adapters: Collection[str] | None = None,
) -> Loaded:
    """
    Return the configuration that holds here.

    Args:
        file: The file that a person named; it has to exist. None: the environment's, else
            the platform's, which need not.
        environ: The environment; default is the process's own.
        flags: Values from the command line.
        adapters: The adapters that are installed, to warn about others; None: do not ask.

    Raises:
        ConfigError: Something is wrong; everything that is wrong.
    """
    loaded, faults = examine(file, environ=environ, flags=flags, adapters=adapters)
    if faults:
        raise ConfigError([*faults, *loaded.warnings])
    return loaded


def examine(
    file: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Iterable[Flag] = (),
    adapters: Collection[str] | None = None,
) -> Examined:
    """Return what `load` returns, with the faults beside it instead of raised."""
    environment = os.environ if environ is None else environ
    gathered = _Gathered(adapters)
    path, exists = _read_file(gathered, file, environment)
    _read_environment(gathered, environment)
    for flag in flags:
        key = tuple(flag.key.split("."))
        _set_text(gathered, key, flag.text, flag.name)
    config = gathered.config()
    _check_together(gathered, config)
    origins = {".".join(key): gathered.origins.get(key, DEFAULT) for key in _all_keys(config)}
    loaded = Loaded(
        config, path, exists, MappingProxyType(origins), tuple(dict.fromkeys(gathered.warnings))
    )
    return Examined(loaded, tuple(gathered.faults))


def variable(key: str) -> str:
    """Return the environment variable of *key* (``landing.root``)."""
    return PREFIX + "__".join(part.upper().replace("-", "_") for part in key.split("."))


class _Gathered:
    """What the places said so far."""

    def __init__(self, adapters: Collection[str] | None) -> None:
        self.adapters = adapters
        self.values: dict[Key, Any] = {}
        self.origins: dict[Key, str] = {}
        self.faults: list[str] = []
        self.warnings: list[str] = []

    def put(self, key: Key, value: Any, origin: str) -> None:
        self.values[key] = value
        self.origins[key] = origin

    def config(self) -> Config:
        """Return the values as a configuration."""
        sections: dict[str, Any] = {}
        for name, section in SECTIONS.items():
            if name == ADAPTERS:
                named = dict.fromkeys(key[1] for key in self.values if key[0] == ADAPTERS)
                sections[name] = MappingProxyType(
                    {each: AdapterConfig(**self._fields((name, each), section)) for each in named}
                )
            else:
                sections[name] = section(**self._fields((name,), section))
        return Config(**sections)

    def _fields(self, table: Key, section: type[Any]) -> dict[str, Any]:
        return {
            setting.attribute: self.values[(*table, setting.key)]
            for setting in settings_of(section)
            if (*table, setting.key) in self.values
        }


def _read_file(
    gathered: _Gathered, named: Path | None, environ: Mapping[str, str]
) -> tuple[Path, bool]:
    where = str(named) if named else environ.get(CONFIG_VARIABLE, "")
    path = Path(where).expanduser().absolute() if where else default_config_file()
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        if where:
            gathered.faults.append(f"{path}: there is no such configuration file")
        return path, False
    except OSError as error:
        gathered.faults.append(f"{path}: cannot be read: {error.strerror}")
        return path, True
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        gathered.faults.append(f"{path}:{line}: not UTF-8, as TOML has to be")
        return path, True
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        gathered.faults.append(f"{path}: not valid TOML: nested too deeply")
        return path, True
    except ValueError as error:
        # TOMLDecodeError is one; a number of thousands of digits is a plain one.
        found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        reason = found[1] if found else str(error)
        line = int(found[2]) if found and found[2] else text.rstrip().count("\n") + 1
        gathered.faults.append(f"{path}:{line}: not valid TOML: {_lower_first(reason)}")
        return path, True
    lines = key_lines(text)
    for name, table in tables.items():
        _read_section(gathered, name, table, path, lines)
    return path, True


def _read_section(
    gathered: _Gathered, name: str, table: object, path: Path, lines: Mapping[Key, int]
) -> None:
    def at(key: Key) -> str:
        line = line_of(lines, key)
        return f"{path}:{line}" if line else str(path)

    if name not in SECTIONS:
        gathered.warnings.append(f"{at((name,))}: unknown {_what(table)} {_did_you_mean((name,))}")
        return
    if not isinstance(table, dict):
        gathered.faults.append(f"{at((name,))}: {name} is {_shown(table)}; wanted a table")
        return
    tables: list[tuple[Key, Any]] = [((name,), table)]
    if name == ADAPTERS:
        tables = [((name, each), inner) for each, inner in table.items()]
    for prefix, inner in tables:
        if not isinstance(inner, dict):
            gathered.faults.append(
                f"{at(prefix)}: {'.'.join(prefix)} is {_shown(inner)}; wanted a table"
            )
            continue
        if len(prefix) == 2:
            _check_adapter(gathered, prefix[1], at(prefix))
        settings = {setting.key: setting for setting in settings_of(SECTIONS[name])}
        for word, value in inner.items():
            key = (*prefix, word)
            if word not in settings:
                gathered.warnings.append(f"{at(key)}: unknown key {_did_you_mean(key)}")
                continue
            try:
                gathered.put(key, from_toml(settings[word], value), at(key))
            except ValueError as error:
                gathered.faults.append(
                    f"{at(key)}: {'.'.join(key)} is {_shown(value)}; "
                    f"{error}{_nearest_word(settings[word], value)}"
                )


def _read_environment(gathered: _Gathered, environ: Mapping[str, str]) -> None:
    bare = {
        setting.key.upper() for section in SECTIONS.values() for setting in settings_of(section)
    }
    for name in sorted(environ):
        rest = name.removeprefix(PREFIX)
        if rest == name or not environ[name]:
            continue
        parts = rest.lower().split("__")
        if parts[0] == ADAPTERS and len(parts) == 3 and parts[1]:
            parts[1] = _adapter_name(gathered, parts[1])
            _check_adapter(gathered, parts[1], name)
        if len(parts) > 1 or rest in bare:
            _set_text(gathered, tuple(parts), environ[name], name)


def _set_text(gathered: _Gathered, key: Key, text: str, name: str) -> None:
    """Set *key* from *text*, which the variable or flag *name* gave."""
    section = SECTIONS.get(key[0])
    depth = 3 if key[0] == ADAPTERS else 2
    known = {setting.key: setting for setting in settings_of(section)} if section else {}
    if len(key) != depth or key[-1] not in known or not all(key):
        near = _nearest(key)
        hint = f"; did you mean {variable(near)}?" if near else ""
        gathered.warnings.append(f"{name}: no such setting{hint}")
        return
    try:
        gathered.put(key, from_text(known[key[-1]], text), name)
    except ValueError as error:
        gathered.faults.append(
            f"{name} is {_shown(text)}; {error}{_nearest_word(known[key[-1]], text)}"
        )


def _check_together(gathered: _Gathered, config: Config) -> None:
    for name, adapter in config.adapters.items():
        for root in adapter.roots:
            if config.landing.root.is_relative_to(root):
                origin = gathered.origins[ADAPTERS, name, "roots"]
                gathered.faults.append(
                    f"{origin}: adapters.{name}.roots holds {root}, and the landing root "
                    f"{config.landing.root} lies in it; wanted folders apart from each other"
                )


def _check_adapter(gathered: _Gathered, name: str, where: str) -> None:
    if gathered.adapters is not None and name not in gathered.adapters:
        known = ", ".join(sorted(gathered.adapters)) or "none is installed"
        gathered.warnings.append(f"{where}: no adapter is called {name!r} (known: {known})")


def _adapter_name(gathered: _Gathered, spelled: str) -> str:
    """Return the adapter that a variable means: a shell has no hyphens in its names."""
    named = {key[1] for key in gathered.values if key[0] == ADAPTERS} | set(gathered.adapters or ())
    hyphened = spelled.replace("_", "-")
    return next((each for each in sorted(named) if each.replace("_", "-") == hyphened), hyphened)


def _all_keys(config: Config) -> list[Key]:
    keys: list[Key] = []
    for name, section in SECTIONS.items():
        tables = [(name, each) for each in config.adapters] if name == ADAPTERS else [(name,)]
        keys += [(*table, setting.key) for table in tables for setting in settings_of(section)]
    return keys


def _nearest(key: Key) -> str:
    """Return the known key or table that *key* most likely means, else an empty string."""
    dotted = ".".join(key)
    prefix = f"{ADAPTERS}.{key[1] if key[0] == ADAPTERS and len(key) == 3 else 'NAME'}"
    known = {
        f"{prefix if name == ADAPTERS else name}.{setting.key}"
        for name, section in SECTIONS.items()
        for setting in settings_of(section)
    }
    if len(key) == 1:
        near = difflib.get_close_matches(dotted, SECTIONS, n=1)
        if near:
            return near[0]
    elsewhere = sorted(each for each in known if each.rpartition(".")[2] == key[-1])
    near = elsewhere[:1] or difflib.get_close_matches(dotted, sorted(known), n=1, cutoff=0.7)
    if not near:
        ends = {each.rpartition(".")[2]: each for each in sorted(known)}
        near = [ends[end] for end in difflib.get_close_matches(key[-1], ends, n=1)]
    return near[0] if near else ""


def _did_you_mean(key: Key) -> str:
    near = _nearest(key)
    return ".".join(key) + (f"; did you mean {near}?" if near else "")


def _nearest_word(setting: Setting, value: object) -> str:
    if typing.get_origin(setting.type) is not typing.Literal or not isinstance(value, str):
        return ""
    near = difflib.get_close_matches(value.lower(), typing.get_args(setting.type), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _what(value: object) -> str:
    return "table" if isinstance(value, dict | list) else "key"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
