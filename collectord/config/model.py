"""
What a person may set: the one schema that everything else is made from.

The checks, the environment's names, the sample file, ``config show`` and the reference
all read these classes, so a key exists in one place only. A field's description is its
documentation; ``unit`` in its metadata says how it is written (``"5m"``, ``"2 MiB"``).
In the file a duration has no ``_s`` suffix, because the value itself says the unit.

Source: docs/configuration.md.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NamedTuple, get_type_hints

import msgspec
from msgspec import Meta, Struct, field

from collectord.config.places import default_root

__all__ = [
    "ADAPTERS",
    "SECTIONS",
    "AdapterConfig",
    "Config",
    "Landing",
    "Limits",
    "Log",
    "LogFormat",
    "LogLevel",
    "Setting",
    "Watch",
    "settings_of",
]

MIB: Final = 1 << 20

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "json", "text"]


class Landing(Struct, frozen=True):
    """Where the session files are written, and when one is closed for good."""

    root: Annotated[Path, Meta(description="The folder that everything lands under.")] = field(
        default_factory=default_root
    )
    owner: Annotated[
        str,
        Meta(
            description="Whose sessions these are, in a shared folder; "
            "empty: user@host and the id of this installation."
        ),
    ] = ""
    max_file_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            le=1 << 40,
            description="A file of this size is sealed, and the next one begins.",
            extra={"unit": "bytes"},
        ),
    ] = 2 * MIB
    seal_after_idle_s: Annotated[
        float,
        Meta(
            ge=0,
            description="A file is sealed when its source was quiet for this long.",
            extra={"unit": "duration"},
        ),
    ] = field(default=300.0, name="seal_after_idle")
    seal_after_age_s: Annotated[
        float,
        Meta(
            ge=0,
            description="A file is sealed when it is this old.",
            extra={"unit": "duration"},
        ),
    ] = field(default=3600.0, name="seal_after_age")
    fsync: Annotated[
        Literal["seal", "append", "never"],
        Meta(
            description="When bytes are forced to the disk: when a file is sealed, after each "
            "append, or never. What a power cut takes away is collected again from its source."
        ),
    ] = "seal"
    closing_line: Annotated[
        bool,
        Meta(
            description="End each sealed file with a line that holds the digest of what is above "
            "it, as later writers of the format do."
        ),
    ] = False
    mode: Annotated[
        Literal["private", "shared"],
        Meta(
            description="Who may read: private (only you: 0700, 0600, 0400) or shared "
            "(your group too: 0750, 0640, 0440)."
        ),
    ] = "private"


class Watch(Struct, frozen=True):
    """How changes are noticed."""

    method: Annotated[
        Literal["auto", "native", "poll"],
        Meta(
            description="native: events of the operating system; poll: look at the files; "
            "auto: poll only where events do not arrive (network file systems)."
        ),
    ] = "auto"
    poll_every_s: Annotated[
        float,
        Meta(
            ge=0.1,
            description="How often a polled folder is looked at.",
            extra={"unit": "duration"},
        ),
    ] = field(default=10.0, name="poll_every")
    rescan_every_s: Annotated[
        float,
        Meta(
            ge=1,
            description="How often every folder is looked through, because events get lost "
            "on every platform.",
            extra={"unit": "duration"},
        ),
    ] = field(default=60.0, name="rescan_every")
    settle_s: Annotated[
        float,
        Meta(
            ge=0,
            description="How long a changed file is left alone before it is read.",
            extra={"unit": "duration"},
        ),
    ] = field(default=0.0, name="settle")


class AdapterConfig(Struct, frozen=True):
    """One agent's sessions; NAME is what 'collectord adapters' lists."""

    enabled: Annotated[bool, Meta(description="Whether this agent's sessions are collected.")] = (
        True
    )
    roots: Annotated[
        tuple[Path, ...],
        Meta(
            description="More folders that hold its sessions, beside its default ones and those "
            "that its own environment variables name."
        ),
    ] = ()
    include: Annotated[
        tuple[str, ...],
        Meta(
            description="Only sources whose path below the root matches one of these; empty: all."
        ),
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Meta(description="No source whose path below the root matches one of these."),
    ] = ()

    def wants(self, src: str) -> bool:
        """Return whether *src* is to be collected; ``*`` in a pattern crosses slashes."""
        if any(fnmatchcase(src, pattern) for pattern in self.exclude):
            return False
        return not self.include or any(fnmatchcase(src, pattern) for pattern in self.include)


class Limits(Struct, frozen=True):
    """What bounds the memory."""

    convert_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            le=2 << 30,
            description="A source line longer than this is kept whole, without being parsed.",
            extra={"unit": "bytes"},
        ),
    ] = 32 * MIB


class Log(Struct, frozen=True):
    """What the daemon says on its standard error."""

    level: Annotated[LogLevel, Meta(description="The least important events that are shown.")] = (
        "info"
    )
    format: Annotated[
        LogFormat,
        Meta(description="auto: text on a terminal, JSON elsewhere."),
    ] = "auto"


class Config(Struct, frozen=True):
    """Everything that a person may set; ``Config()`` is every default."""

    landing: Landing = field(default_factory=Landing)
    watch: Watch = field(default_factory=Watch)
    adapters: Mapping[str, AdapterConfig] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    log: Log = field(default_factory=Log)

    def adapter(self, *names: str) -> AdapterConfig:
        """Return what is set for the adapter known by one of *names*, else the defaults."""
        return next((self.adapters[name] for name in names if name in self.adapters), DEFAULTS)


DEFAULTS: Final = AdapterConfig()

SECTIONS: Final[Mapping[str, type[Struct]]] = MappingProxyType(
    {
        "landing": Landing,
        "watch": Watch,
        "adapters": AdapterConfig,
        "limits": Limits,
        "log": Log,
    }
)
"""The tables of the file; ``adapters`` holds one table for each name."""

ADAPTERS: Final = "adapters"


class Setting(NamedTuple):
    """One key of a table, as its class declares it."""

    key: str
    """The key in the file and, in upper case, in the environment."""
    attribute: str
    """The field of the class; differs from ``key`` where it carries a unit."""
    type: Any
    """The field's type without its metadata."""
    unit: str
    """``duration``, ``bytes`` or empty: how the value is written."""
    least: float | None
    most: float | None
    doc: str
    default: Any


def settings_of(section: type[Struct]) -> tuple[Setting, ...]:
    """Return the keys of *section*, in the order in which it declares them."""
    hints = get_type_hints(section, include_extras=True)
    return tuple(_setting(info, hints[info.name]) for info in msgspec.structs.fields(section))


def _setting(info: msgspec.structs.FieldInfo, hint: Any) -> Setting:
    meta: Meta = hint.__metadata__[0]
    default = info.default
    if info.default_factory is not msgspec.NODEFAULT:
        default = info.default_factory()
    return Setting(
        key=info.encode_name,
        attribute=info.name,
        type=hint.__origin__,
        unit=(meta.extra or {}).get("unit", ""),
        least=meta.ge,
        most=meta.le,
        doc=meta.description or "",
        default=default,
    )
