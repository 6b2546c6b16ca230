"""
Where things are when nobody says otherwise: the platform's own directories.

`platformdirs` knows the conventions of each system (XDG on Linux, Library on macOS).
Functions, not constants: the environment may name other directories, and importing
this module must not read it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

__all__ = [
    "CONFIG_VARIABLE",
    "NAME",
    "STATE_VARIABLE",
    "default_config_file",
    "default_root",
    "default_state_dir",
    "state_dir_of",
]

NAME: Final = "collectord"

CONFIG_VARIABLE: Final = "COLLECTORD_CONFIG"
"""Names the configuration file, as ``--config`` does."""

STATE_VARIABLE: Final = "COLLECTORD_STATE_DIR"
"""Names the state directory, as ``--state-dir`` does."""


def default_root() -> Path:
    """Return the landing root: ``sessions`` in the user's data directory."""
    return platformdirs.user_data_path(NAME, appauthor=False) / "sessions"


def default_state_dir() -> Path:
    """Return the directory of the state store; it holds caches only."""
    return platformdirs.user_state_path(NAME, appauthor=False)


def default_config_file() -> Path:
    """Return the configuration file that is read when none is named; it need not exist."""
    return platformdirs.user_config_path(NAME, appauthor=False) / "collectord.toml"


def state_dir_of(flag: Path | None, environ: Mapping[str, str]) -> Path:
    """
    Return the state directory: the flag's, else the environment's, else the default.

    It is no key of the configuration file, because it must stay on the local disk while
    that file is often shared between machines.
    """
    named = flag or (Path(value) if (value := environ.get(STATE_VARIABLE)) else None)
    return named.expanduser().absolute() if named else default_state_dir()
