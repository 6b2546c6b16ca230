"""
What becomes of the members of an object, decided once for every shape of it.

A table says for each member's name which step takes it. Records of a runtime have few
shapes (the names of an object's members, in order), so the steps of a shape are looked
up once and remembered, and an object of a known shape is checked for repeated or
escaped names by its size alone.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from collectord.sessiondata.rawjson import NotStrict
from collectord_adapters.claude_code.draft import Draft

__all__ = ["DONE", "Step", "Steps", "Table", "shape_size", "take_each"]

Step = Callable[[Draft, str, Raw], str]
"""Take the member at a dotted path; return its place."""

Steps = tuple[tuple[str, str, Step], ...]
"""Name, dotted path and step of each member of an object."""

DONE: Final = ""
"""The place of a container: its members have theirs."""

_SHAPES: Final = 1024
"""How many shapes a table remembers."""

_decode: Final = msgspec.json.Decoder(dict[str, Raw]).decode


class _Shape(NamedTuple):
    size: int
    """Bytes of the names and the punctuation."""
    steps: Steps


@lru_cache(_SHAPES)
def shape_size(keys: tuple[str, ...]) -> int:
    """Return the bytes of an object's names and punctuation; its values make up the rest."""
    return 4 * len(keys) + 1 + sum(len(key.encode()) for key in keys) if keys else 2


def take_each(raw: Raw, found: dict[str, Raw], steps: Steps, draft: Draft) -> None:
    """Send each member of the object *raw* to its place."""
    if draft.ledger is None:
        for key, path, step in steps:
            step(draft, path, found[key])
        return
    keys = draft.ledger.keys_of(raw)
    for key, path, step in steps:
        value = found[key]
        place = step(draft, path, value)
        if place == DONE:
            draft.add("part", keys[key])
        else:
            draft.add(place, keys[key] + len(value))


class Table:
    """The steps for the members of one sort of object."""

    def __init__(self, path: str, steps: Mapping[str, Step], otherwise: Step) -> None:
        self._path = path
        self._steps = dict(steps)
        self._otherwise = otherwise
        self._shapes: dict[tuple[str, ...], _Shape] = {}

    def open(self, raw: Raw, draft: Draft) -> tuple[dict[str, Raw], Steps]:
        """
        Return the members of the object *raw* and their steps.

        Those members that a later one hides become unknown.

        Raises:
            NotStrict: It is no object.
        """
        try:
            found = _decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise NotStrict(str(error)) from None
        shape = self._shape(tuple(found))
        if shape.size + sum(map(len, found.values())) != len(raw):
            found = draft.open(raw, self._path)
            shape = self._shape(tuple(found))
        return found, shape.steps

    def _shape(self, keys: tuple[str, ...]) -> _Shape:
        shape = self._shapes.get(keys)
        if shape is None:
            if len(self._shapes) >= _SHAPES:
                self._shapes.clear()
            steps = tuple(
                (key, self._path + key, self._steps.get(key, self._otherwise)) for key in keys
            )
            shape = self._shapes[keys] = _Shape(shape_size(keys), steps)
        return shape
