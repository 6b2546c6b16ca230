"""
Values as a person writes them, and back: ``"5m"``, ``"2 MiB"``, paths and words.

Pure; what a value may be comes from the `Setting` that declares it. A value that does
not fit raises `ValueError` with what was wanted, and the caller says what was found
and where.
"""

import os
import re
import typing
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

from collectord.config.model import Setting

__all__ = ["format_bytes", "format_duration", "from_text", "from_toml", "to_toml"]

DURATIONS: Final[Mapping[str, float]] = {
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
SIZES: Final[Mapping[str, int]] = {
    "b": 1,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "kb": 1000,
    "mb": 1000**2,
    "gb": 1000**3,
}
WRITTEN: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")
ONE_PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*")


def from_toml(setting: Setting, value: object, *, relative_to: Path | None = None) -> Any:
    """
    Return *value*, as a TOML parser gave it, as what *setting* holds.

    Args:
        setting: What it is for.
        value: A string, number, boolean or list.
        relative_to: Where a relative path starts; None: a path has to be absolute.

    Raises:
        ValueError: It does not fit; the message says what was wanted.
    """
    if setting.unit == "duration":
        return _within(setting, _duration(value), format_duration)
    if setting.unit == "bytes":
        return _within(setting, _size(value), format_bytes)
    if setting.type is bool:
        if not isinstance(value, bool):
            raise ValueError("wanted true or false")
        return value
    if setting.type is Path:
        return _path(value, relative_to)
    if typing.get_origin(setting.type) is Literal:
        words = typing.get_args(setting.type)
        if value not in words:
            raise ValueError(f"wanted one of {', '.join(words)}")
        return value
    if setting.type is str:
        if not isinstance(value, str):
            raise ValueError("wanted a string")
        return value
    return _list(setting, value, relative_to)


def from_text(setting: Setting, text: str) -> Any:
    """
    Return *text*, from the environment or a flag, as what *setting* holds.

    Relative paths start at the working directory. Folders of a list are separated as in
    ``PATH``, patterns by commas.

    Raises:
        ValueError: It does not fit; the message says what was wanted.
    """
    here = Path.cwd()
    if setting.type is bool:
        word = text.strip().lower()
        if word in {"1", "true", "yes", "on"}:
            return True
        if word in {"0", "false", "no", "off"}:
            return False
        raise ValueError("wanted true or false")
    if setting.unit or setting.type in {Path, str} or _is_choice(setting):
        return from_toml(setting, text, relative_to=here)
    between = os.pathsep if _item(setting) is Path else ","
    items = [item.strip() for item in text.split(between)]
    return from_toml(setting, [item for item in items if item], relative_to=here)


def to_toml(setting: Setting, value: Any) -> str:
    """Return *value* as it is written in the file."""
    if setting.unit == "duration":
        return quoted(format_duration(value))
    if setting.unit == "bytes":
        return quoted(format_bytes(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(quoted(str(item)) for item in value) + "]"
    return quoted(str(value))


def quoted(text: str) -> str:
    """Return *text* as a TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'


def format_duration(seconds: float) -> str:
    """Return *seconds* in the largest unit that holds them whole: ``5m``, ``1.5s``."""
    for unit in ("d", "h", "m"):
        count = seconds / DURATIONS[unit]
        if count >= 1 and count == int(count):
            return f"{int(count)}{unit}"
    # Never 1e-05: the exponent is no way to write a duration.
    return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"


def format_bytes(size: int) -> str:
    """Return *size* in the largest binary unit that holds it whole: ``2 MiB``."""
    for unit in ("GiB", "MiB", "KiB"):
        count, rest = divmod(size, SIZES[unit.lower()])
        if count and not rest:
            return f"{count} {unit}"
    return f"{size} B"


def _duration(value: object) -> float:
    wanted = ValueError('wanted a duration such as "90s", "5m" or "1h30m", or seconds as a number')
    if isinstance(value, bool):
        raise wanted
    if isinstance(value, int | float):
        # An int may be too large for a float, and 10 digits are for ever anyway.
        seconds = float(min(value, 1e10))
    elif isinstance(value, str) and (plain := WRITTEN.fullmatch(value)) and not plain[2]:
        seconds = float(plain[1])
    elif isinstance(value, str) and value.strip():
        text, seconds = value.strip().lower(), 0.0
        while text:
            part = ONE_PART.match(text)
            if part is None:
                raise wanted
            seconds += float(part[1]) * DURATIONS[part[2]]
            text = text[part.end() :]
    else:
        raise wanted
    if not 0 <= seconds < 1e10:
        raise wanted
    return seconds


def _size(value: object) -> int:
    wanted = ValueError('wanted a size such as "512 KiB" or "2 MiB", or bytes as a number')
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and (written := WRITTEN.fullmatch(value)):
        unit = SIZES.get(written[2].lower() or "b")
        # Fraction: "0.1 MiB" is no whole number of bytes, and a float would hide it.
        size = Fraction(written[1]) * (unit or 0)
        if unit and size.denominator == 1:
            return int(size)
    raise wanted


def _within(setting: Setting, value: Any, written: Callable[[Any], str]) -> Any:
    if setting.least is not None and value < setting.least:
        raise ValueError(f"wanted at least {written(setting.least)}")
    if setting.most is not None and value > setting.most:
        raise ValueError(f"wanted at most {written(int(setting.most))}")
    return value


def _path(value: object, relative_to: Path | None) -> Path:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError("wanted a path")
    try:
        path = Path(value).expanduser()
    except RuntimeError as error:
        raise ValueError("wanted a path, and this ~user has no home here") from error
    if not path.is_absolute():
        if relative_to is None:
            raise ValueError("wanted an absolute path, or one that starts with ~")
        path = relative_to / path
    # Not resolve(): a link that a person named stays the name that is shown.
    return Path(os.path.normpath(path))


def _list(setting: Setting, value: object, relative_to: Path | None) -> tuple[Any, ...]:
    if _item(setting) is Path:
        wanted = 'wanted a list of folders such as ["~/sessions"]'
    else:
        wanted = 'wanted a list of patterns such as ["*/notes-*.jsonl"]'
    if not isinstance(value, list) or not all(isinstance(i, str) and i.strip() for i in value):
        raise ValueError(wanted)
    if _item(setting) is Path:
        return tuple(_path(item, relative_to) for item in value)
    return tuple(value)


def _item(setting: Setting) -> Any:
    arguments = typing.get_args(setting.type)
    return arguments[0] if arguments else None


def _is_choice(setting: Setting) -> bool:
    return typing.get_origin(setting.type) is Literal
