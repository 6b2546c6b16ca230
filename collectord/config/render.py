"""
The configuration as text: the sample file, and the tables of the reference.

Both are made from the classes of `collectord.config.model`, so a key that is added there
is documented by it. In the sample every value is commented out: the file as it is means
the defaults. Where a default depends on the platform, the Linux form is written with the
macOS one beside it.

``python -m collectord.config.render > config/collectord.toml`` writes the checked-in file.
"""

import sys
import textwrap
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from collectord.config.load import variable
from collectord.config.model import ADAPTERS, SECTIONS, Setting, settings_of
from collectord.config.values import to_toml

__all__ = ["render_reference", "render_sample"]

WIDTH: Final = 92

HEAD: Final = """\
# The configuration of collectord: every key, with its default.
#
# No file is needed. A line without its "#" changes the value. A key can also be set in the
# environment (COLLECTORD_LANDING__ROOT for root in [landing]), which wins over this file,
# and a flag wins over both. 'collectord config show' prints the values that hold and where
# each comes from; 'collectord config check' names every mistake.
#
# Durations are written "90s", "5m", "1h30m"; sizes "512 KiB", "2 MiB"; a path may start with ~.
"""

ROOT_HERE: Final = '"~/.local/share/collectord/sessions"'
ROOT_NOTE: Final = 'On macOS: "~/Library/Application Support/collectord/sessions".'


def render_sample() -> str:
    """Return the sample file, ``config/collectord.toml``."""
    return HEAD + "".join(
        "\n" + "\n".join(_section(name, section)) + "\n" for name, section in SECTIONS.items()
    )


def render_reference() -> str:
    """Return the keys as a Markdown table."""
    rows = ["| key | default | environment | meaning |", "| --- | --- | --- | --- |"]
    for name, section in SECTIONS.items():
        table = f"{name}.NAME" if name == ADAPTERS else name
        for setting in settings_of(section):
            key = f"{table}.{setting.key}"
            default = _default(name, setting)
            meaning = " ".join(_doc(name, setting)).replace("|", "\\|")
            rows.append(f"| `{key}` | `{default}` | `{variable(key)}` | {meaning} |")
    return "\n".join(rows) + "\n"


def _section(name: str, section: type[Struct]) -> Iterator[str]:
    yield from _comment(section.__doc__ or "")
    # A table of its own would be an adapter called NAME.
    yield f"#[{name}.NAME]" if name == ADAPTERS else f"[{name}]"
    for setting in settings_of(section):
        yield ""
        for paragraph in _doc(name, setting):
            yield from _comment(paragraph)
        yield f"#{setting.key} = {_default(name, setting)}"


def _doc(name: str, setting: Setting) -> list[str]:
    return [setting.doc, ROOT_NOTE] if (name, setting.key) == ("landing", "root") else [setting.doc]


def _default(name: str, setting: Setting) -> str:
    if (name, setting.key) == ("landing", "root"):
        return ROOT_HERE
    return to_toml(setting, setting.default)


def _comment(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ")


if __name__ == "__main__":
    sys.stdout.write(render_sample())
