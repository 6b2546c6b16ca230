"""
Every error that collectord raises on purpose.

Each is one sentence that says what was found, where, and what was wanted; ``hint``
is what a person can do, ``exit_code`` what the command line returns (sysexits.h).
An error outside this tree is a fault of ours and ends in "this is a bug".

::

    CollectordError
    ├── SessionDataError         65  a .sd file or record is not sd/1
    ├── SourceError              66
    │   ├── SourceGone               the path is no longer there: expected, not a failure
    │   ├── SourceRefused            not a regular file, or its name cannot be landed
    │   └── SourceUnexpected     70  a fault of ours or of a plug-in, met at this source
    ├── AdapterError             70
    │   └── PluginRefused            one plug-in is broken; the others go on
    ├── LandingError             73
    │   ├── NameRefused              a name from data that may not become a path
    │   ├── LandedFileDiffers        a sealed file holds something else than we would seal
    │   └── SessionStopped           a session that must not be written to any more
    ├── RootBusy                 75  another daemon holds the landing root
    ├── RootGone                 75  the landing root is no longer the one that was locked
    ├── StateError               74
    │   └── StateTooNew          78  written by a newer version
    ├── ConfigError              78  all faults of a configuration at once
    └── NothingFound             66  what was asked for is not there
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

__all__ = [
    "AdapterError",
    "CollectordError",
    "ConfigError",
    "LandedFileDiffers",
    "LandingError",
    "NameRefused",
    "NothingFound",
    "PluginRefused",
    "RootBusy",
    "RootGone",
    "SessionDataError",
    "SessionStopped",
    "SourceError",
    "SourceGone",
    "SourceRefused",
    "SourceUnexpected",
    "StateError",
    "StateTooNew",
]


class CollectordError(Exception):
    """The root of the tree; ``str()`` is the one sentence a person reads."""

    exit_code: ClassVar[int] = 70
    hint: str = ""


class SessionDataError(CollectordError):
    """A file or a record is not sd/1; ``where`` is a path, ``line`` counts from 1 (0: the whole)."""

    exit_code = 65

    def __init__(self, reason: str, *, where: Path | str = "", line: int = 0) -> None:
        place = f"{where}:{line}: " if where and line else f"{where}: " if where else ""
        super().__init__(place + reason)
        self.reason = reason
        self.where = str(where)
        self.line = line


class SourceError(CollectordError):
    """One source cannot be read; others are not affected."""

    exit_code = 66

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class SourceGone(SourceError):
    """The source is no longer there. An expected state: agents prune their sessions."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "the source is no longer there")


class SourceRefused(SourceError):
    """The path names something that is never read: a directory, a pipe, a device."""


class SourceUnexpected(SourceError):
    """A fault of ours or of a plug-in stopped this source; the others go on."""

    exit_code = 70
    hint = "This is a bug: please report it; -vv shows the trace."

    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(path, f"an unexpected {type(error).__name__} stopped it")


class AdapterError(CollectordError):
    """An adapter was asked for something it cannot give."""


class PluginRefused(AdapterError):
    """A plug-in could not be loaded or breaks the contract; the others go on."""

    def __init__(self, name: str, distribution: str, reason: str) -> None:
        super().__init__(f"adapter plug-in {name!r} of {distribution} is refused: {reason}")
        self.name = name
        self.distribution = distribution
        self.reason = reason


class LandingError(CollectordError):
    """Something about the landing root or a file in it."""

    exit_code = 73

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = str(path)
        self.reason = reason


class NameRefused(LandingError):
    """A session, stream or batch name from data that may not become a path."""

    def __init__(self, what: str, name: str, reason: str) -> None:
        super().__init__(f"{what} {name[:80]!r}", reason)


class LandedFileDiffers(LandingError):
    """A sealed file that should hold what we were about to seal holds something else."""

    hint = "Run 'collectord verify SESSION'; the other file was not written by this daemon."

    def __init__(self, path: Path, *, found: str, wanted: str) -> None:
        super().__init__(
            path, f"found sha256 {found[:12]}, wanted {wanted[:12]}; nothing was overwritten"
        )


class SessionStopped(LandingError):
    """A session is not written to any more until a person has looked."""

    hint = "Run 'collectord verify SESSION' to see what is there, then restart collectord."


class RootBusy(CollectordError):
    """Another collectord writes to this landing root."""

    exit_code = 75
    hint = "One daemon writes to a landing root; stop that one, or give this one another --root."

    def __init__(self, root: Path, holder: str) -> None:
        super().__init__(f"{root}: another collectord writes here ({holder})")


class RootGone(CollectordError):
    """The landing root was removed or replaced while it was written to."""

    exit_code = 75
    hint = "Start collectord again: what is missing in the root lands again from the sources."

    def __init__(self, root: Path) -> None:
        super().__init__(f"{root}: removed or replaced while collectord was writing to it")


class StateError(CollectordError):
    """The state store cannot be used."""

    exit_code = 74
    hint = (
        "The state store holds caches only: it may be deleted at any time, nothing is landed twice."
    )


class StateTooNew(StateError):
    """The state store was written by a newer version of collectord."""

    exit_code = 78

    def __init__(self, path: Path, found: int, wanted: int) -> None:
        super().__init__(
            f"{path}: written by a newer collectord (version {found}, this one knows {wanted})"
        )
        self.hint = "Install the newer version again, or delete this file: it holds caches only."


class ConfigError(CollectordError):
    """Everything wrong with a configuration, one line each."""

    exit_code = 78

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class NothingFound(CollectordError):
    """What was asked for is not there; the sentence says where was looked."""

    exit_code = 66
