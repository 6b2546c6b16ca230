"""
What a person may set, where it comes from, and how it is written down.

Floor 6: the pipeline and the daemon are given a `Config` and read no file of their own.
"""

from collectord.config.load import Examined, Flag, Loaded, examine, load, variable
from collectord.config.model import (
    AdapterConfig,
    Config,
    Landing,
    Limits,
    Log,
    LogFormat,
    LogLevel,
    Watch,
)
from collectord.config.places import (
    default_config_file,
    default_root,
    default_state_dir,
    state_dir_of,
)

__all__ = [
    "AdapterConfig",
    "Config",
    "Examined",
    "Flag",
    "Landing",
    "Limits",
    "Loaded",
    "Log",
    "LogFormat",
    "LogLevel",
    "Watch",
    "default_config_file",
    "default_root",
    "default_state_dir",
    "examine",
    "load",
    "state_dir_of",
    "variable",
]
