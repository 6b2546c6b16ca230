"""
``collectord config``: what holds here and why, whether it is right, and a file to begin with.

Showing and checking differ in one thing: a key that nothing knows is a warning for a run,
because a file may serve two versions, and a mistake for ``check``.
"""

import os
from collections.abc import Iterator
from typing import Any

import click

from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.config import Config, default_config_file, examine
from collectord.config.load import DEFAULT
from collectord.config.model import ADAPTERS, SECTIONS, settings_of
from collectord.config.places import CONFIG_VARIABLE, STATE_VARIABLE
from collectord.config.render import render_sample
from collectord.config.values import to_toml
from collectord.errors import CollectordError, ConfigError

__all__ = ["command"]


class FileExists(CollectordError):
    """A file that would be written is there already."""

    exit_code = 73
    hint = "Add --force to replace it."


@click.group(
    invoke_without_command=True,
    epilog=examples("collectord config", "collectord config check", "collectord config init"),
)
@common_options
def command(settings: Settings) -> None:
    """Show, check or begin the configuration; without a word behind it: show."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        _show(settings)


@command.command(epilog=examples("collectord config show", "collectord config show --json"))
@common_options
def show(settings: Settings) -> None:
    """Print the values that hold, and where each comes from."""
    _show(settings)


@command.command(epilog=examples('"$EDITOR" "$(collectord config path)"'))
@common_options
def path(settings: Settings) -> None:
    """Print the path of the configuration file, whether it exists or not."""
    file = examine(settings.config_file).loaded.file
    if settings.json:
        console.write_json({"path": file, "exists": file.exists()})
    else:
        console.write(str(file))


@command.command(epilog=examples("collectord config check && collectord run"))
@common_options
def check(settings: Settings) -> None:
    """Name everything that is wrong, unknown keys too; exit code 78 if anything is."""
    registry = settings.registry
    adapters = [plugin.key for plugin in registry.plugins]
    adapters += [plugin.adapter.name for plugin in registry.plugins]
    # A refused plug-in is a fault of the plug-in; its table in the file may be right.
    adapters += [refused.name for refused in registry.refused]
    loaded, faults = examine(settings.config_file, flags=settings.flags, adapters=adapters)
    problems = [*faults, *loaded.warnings]
    if settings.json:
        console.write_json(
            {"path": loaded.file, "exists": loaded.file_exists, "problems": problems}
        )
        if problems:
            click.get_current_context().exit(ConfigError.exit_code)
        return
    if problems:
        raise ConfigError(problems)
    console.write(
        f"{loaded.file}: no mistakes"
        if loaded.file_exists
        else f"{loaded.file}: there is no such file, so the defaults hold"
    )


@command.command(epilog=examples("collectord config init", "collectord config init --force"))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@common_options
def init(settings: Settings, *, force: bool) -> None:
    """Write a configuration file that holds every key with its default, commented out."""
    named = settings.config_file or os.environ.get(CONFIG_VARIABLE, "")
    file = default_config_file()
    if named:
        # The file that 'run' will read: as given, not the platform's.
        file = examine(settings.config_file).loaded.file
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(render_sample())
    except FileExistsError as error:
        raise FileExists(f"{file}: is there already, and was not touched") from error
    if settings.json:
        console.write_json({"path": file})
    else:
        console.write(f"Wrote {file}; every value in it is commented out.")


def _show(settings: Settings) -> None:
    loaded = settings.loaded
    rows = list(_rows(loaded.config, loaded.origins))
    if settings.json:
        for row in rows:
            console.write_json({name: row[name] for name in ("key", "value", "origin")})
        return
    there = "" if loaded.file_exists else "  (not there; the defaults hold)"
    console.write(f"file       {loaded.file}{there}")
    by = " --state-dir" if settings.state_dir_flag else ""
    by = by or (f" {STATE_VARIABLE}" if os.environ.get(STATE_VARIABLE) else "")
    console.write(f"state dir  {settings.state_dir}" + (f"  ({by.strip()})" if by else ""))
    console.write()
    # The file stands above; a line of it is enough below.
    shown = [
        (row["key"], row["written"], row["origin"].replace(f"{loaded.file}:", "line "))
        for row in rows
    ]
    console.write_table(("key", "value", "from"), shown)


def _rows(config: Config, origins: Any) -> Iterator[dict[str, Any]]:
    for name, section in SECTIONS.items():
        values = getattr(config, name)
        tables = (
            {f"{name}.{each}": value for each, value in values.items()}
            if name == ADAPTERS
            else {name: values}
        )
        for table, holder in tables.items():
            for setting in settings_of(section):
                key = f"{table}.{setting.key}"
                value = getattr(holder, setting.attribute)
                yield {
                    "key": key,
                    "value": value,
                    "written": to_toml(setting, value),
                    "origin": origins.get(key, DEFAULT),
                }
