"""
What every command shares: the common options, and what follows from them.

The options are accepted before the command's name and after it, because people type them
in either place; what stands later wins, and ``--adapter`` adds up. Nothing is read until
a command asks for it.
"""

import functools
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from collectord.adapter import Plugin, Registry
    from collectord.config import Config, Flag, Loaded

__all__ = ["Settings", "common_options", "examples"]

P = ParamSpec("P")
R = TypeVar("R")

DEBUG_VARIABLE: Final = "COLLECTORD_DEBUG"
"""Set to anything: an unexpected error shows its trace, as ``-vv`` does."""


class Settings:
    """The options that were given, and the configuration that follows from them."""

    def __init__(self) -> None:
        self.config_file: Path | None = None
        self.root_flag: Path | None = None
        self.state_dir_flag: Path | None = None
        self.adapter_keys: tuple[str, ...] = ()
        """What ``--adapter`` named; empty: all."""
        self.json = False
        self.verbose = 0
        self.quiet = 0

    def add(self, given: dict[str, Any]) -> None:
        """Take over what one place of the command line gave."""
        self.config_file = given["config_file"] or self.config_file
        self.root_flag = given["root"] or self.root_flag
        self.state_dir_flag = given["state_dir"] or self.state_dir_flag
        self.adapter_keys = tuple(dict.fromkeys((*self.adapter_keys, *given["adapter"])))
        self.json = given["json"] or self.json
        self.verbose += given["verbose"]
        self.quiet += given["quiet"]

    @property
    def shows_traces(self) -> bool:
        """Whether an unexpected error is shown with its trace."""
        return self.verbose >= 2 or bool(os.environ.get(DEBUG_VARIABLE))

    @property
    def flags(self) -> "list[Flag]":
        """What the options set in the configuration."""
        from collectord.config import Flag

        flags = []
        if self.root_flag is not None:
            flags.append(Flag("landing.root", str(self.root_flag), "--root"))
        if self.verbose:
            flags.append(Flag("log.level", "debug", "-v"))
        elif self.quiet:
            flags.append(Flag("log.level", "warning" if self.quiet == 1 else "error", "-q"))
        return flags

    @cached_property
    def loaded(self) -> "Loaded":
        """
        The configuration with the origin of each value; warnings were shown.

        Raises:
            ConfigError: Something in it is wrong; everything that is wrong.
        """
        from collectord.cli import console
        from collectord.config import load

        loaded = load(self.config_file, flags=self.flags)
        if not self.quiet:
            for warning in loaded.warnings:
                console.write_warning(warning)
        return loaded

    @property
    def config(self) -> "Config":
        """The configuration; see `loaded`."""
        return self.loaded.config

    @property
    def root(self) -> Path:
        """The landing root."""
        return self.config.landing.root

    @cached_property
    def state_dir(self) -> Path:
        """Where the state store is."""
        from collectord.config import state_dir_of

        return state_dir_of(self.state_dir_flag, os.environ)

    @cached_property
    def registry(self) -> "Registry":
        """Every adapter plug-in that is installed, and those that were refused."""
        from collectord.adapter import load_registry

        return load_registry()

    @property
    def named_plugins(self) -> "tuple[Plugin, ...]":
        """
        The plug-ins that ``--adapter`` names, or all; whether they are enabled or not.

        Raises:
            click.UsageError: One of the names is no adapter's.
        """
        if not self.adapter_keys:
            return self.registry.plugins
        chosen: dict[str, Plugin] = {}
        for key in self.adapter_keys:
            plugin = self.registry.get(key)
            if plugin is None:
                refused = [each for each in self.registry.refused if each.name == key]
                if refused:
                    raise refused[0]
                known = ", ".join(each.key for each in self.registry.plugins)
                raise click.UsageError(
                    f"no adapter is called {key!r}; "
                    + (f"the installed ones are {known}" if known else "none is installed")
                )
            chosen[plugin.key] = plugin
        return tuple(chosen.values())

    @property
    def plugins(self) -> "tuple[Plugin, ...]":
        """
        The plug-ins to collect from: those named, else all that the configuration enables.

        Raises:
            click.UsageError: ``--adapter`` names one that is not installed.
            ConfigError: The configuration is wrong.
        """
        if self.adapter_keys:
            return self.named_plugins
        return tuple(
            plugin
            for plugin in self.registry.plugins
            if self.config.adapter(plugin.key, plugin.adapter.name).enabled
        )

    def configure_logs(self) -> None:
        """Set up logging as the configuration and the options say."""
        from collectord import logs

        logs.configure(self.config.log.level, self.config.log.format)


def common_options(function: Callable[Concatenate[Settings, P], R]) -> Callable[P, R]:
    """Give *function* the shared options, and call it with the `Settings` first."""

    @functools.wraps(function)
    def with_settings(*args: P.args, **kwargs: P.kwargs) -> R:
        context = click.get_current_context()
        settings = context.ensure_object(Settings)
        settings.add({name: kwargs.pop(name) for name in OPTION_NAMES})
        return function(settings, *args, **kwargs)

    decorated: Callable[P, R] = with_settings
    for option in reversed(OPTIONS):
        decorated = option(decorated)
    return decorated


def examples(*lines: str) -> str:
    """Return an epilog that shows *lines* as they are typed."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _complete_adapter(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    return [each.key for each in Settings().registry.plugins if each.key.startswith(incomplete)]


A_PATH: Final = click.Path(path_type=Path)

OPTIONS: Final = (
    click.option(
        "--config",
        "config_file",
        type=A_PATH,
        metavar="FILE",
        help="The configuration file (COLLECTORD_CONFIG).",
    ),
    click.option(
        "--root",
        type=A_PATH,
        metavar="DIR",
        help="The landing root: where session files are (COLLECTORD_LANDING__ROOT).",
    ),
    click.option(
        "--state-dir",
        type=A_PATH,
        metavar="DIR",
        help="Where the state store is, caches only (COLLECTORD_STATE_DIR).",
    ),
    click.option(
        "--adapter",
        multiple=True,
        metavar="NAME",
        shell_complete=_complete_adapter,
        help="Only this agent; may be repeated.",
    ),
    click.option("--json", is_flag=True, help="Print JSON, one object a line."),
    click.option("-v", "--verbose", count=True, help="Say more; -vv shows traces."),
    click.option("-q", "--quiet", count=True, help="Say less; -qq only errors."),
)

OPTION_NAMES: Final = ("config_file", "root", "state_dir", "adapter", "json", "verbose", "quiet")
