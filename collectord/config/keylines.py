"""
Which line of a TOML file a key stands on.

`tomllib` gives values without their place. This looks at each line for a table's head
or a key, and lets `tomllib` itself read the name, so quoting and dots are its business.
A line it cannot place is passed over: the answer is for a message, and the nearest
line above is then given.
"""

import tomllib
from collections.abc import Mapping

__all__ = ["key_lines", "line_of"]

Key = tuple[str, ...]


def key_lines(text: str) -> dict[Key, int]:
    """Return the line, counted from 1, of every table and key of *text* that stands on its own."""
    found: dict[Key, int] = {}
    table: Key = ()
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped.startswith("["):
            head = _key(stripped)
            if head:
                table = head
                found.setdefault(table, number)
        elif "=" in stripped and not stripped.startswith("#"):
            key = _key(stripped.partition("=")[0] + "= 0")
            for length in range(1, len(key) + 1):
                found.setdefault(table + key[:length], number)
    return found


def line_of(lines: Mapping[Key, int], key: Key) -> int:
    """Return the line of *key*, or of the nearest table around it; 0 when none is known."""
    while key:
        if key in lines:
            return lines[key]
        key = key[:-1]
    return 0


def _key(text: str) -> Key:
    try:
        level: object = tomllib.loads(text)
    except (ValueError, RecursionError):
        return ()
    key: list[str] = []
    while True:
        if isinstance(level, list) and level:
            level = level[0]
        if not isinstance(level, dict) or not level:
            return tuple(key)
        name, level = next(iter(level.items()))
        key.append(name)
