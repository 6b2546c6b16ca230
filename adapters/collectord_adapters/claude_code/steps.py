"""
What becomes of the members of an object, decided once for every shape of it.

A table says for each member's name which step takes it. Records of a runtime have few
shapes (the names of an object's members, in order), so the steps of a shape are looked
up once and remembered, and an object of a known shape is checked for repeated or
escaped names by its size alone.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Final

import msgspec
from msgspec import Raw

from collectord.adapter import Context
from collectord.sessiondata.rawjson import NotStrict
from collectord_adapters.claude_code.draft import Draft

__all__ = ["DONE", "Shape", "Step", "Steps", "Table", "shape_size", "take_each"]

Step = Callable[[Draft, str, Raw], str]
"""Take the member at a dotted path; return its place."""

Steps = tuple[tuple[str, str, Step], ...]
"""Name, dotted path and step of each member of an object."""

DONE: Final = ""
"""The place of a container: its members have theirs."""

_SHAPES: Final = 1024
"""How many shapes a table remembers."""

_decode: Final = msgspec.json.Decoder(dict[str, Raw]).decode


class Shape:
    """The names of an object's members, in order, and what follows from them."""

    __slots__ = ("before", "others", "repeated", "size", "steps")

    def __init__(self, keys: tuple[str, ...], steps: Steps, repeated: frozenset[str]) -> None:
        self.size = shape_size(keys)
        """Bytes of the names and the punctuation."""
        self.steps = steps
        again = [key for key in keys if key in repeated]
        self.repeated = itemgetter(*again) if len(again) > 1 else None
        """Takes out the members that most records of a file repeat."""
        self.others = tuple(step for step in steps if step[0] not in repeated)
        """The steps of the other members."""
        self.before: tuple[Context, str, str, tuple[Raw, ...]] | None = None
        """Context, session, stream and those members, when they last needed nothing."""


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

    def __init__(
        self,
        path: str,
        steps: Mapping[str, Step],
        otherwise: Step,
        repeated: frozenset[str] = frozenset(),
    ) -> None:
        self._path = path
        self._steps = dict(steps)
        self._otherwise = otherwise
        self._repeated = repeated
        self._shapes: dict[tuple[str, ...], Shape] = {}

    def open(self, raw: Raw, draft: Draft) -> tuple[dict[str, Raw], Shape]:
        """
        Return the members of the object *raw* and its shape.

        Those members that a later one hides become unknown.

        Raises:
            NotStrict: It is no object.
            NotCompact: It has white space between its tokens.
        """
        try:
            found = _decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise NotStrict(str(error)) from None
        keys = tuple(found)
        shape = self._shapes.get(keys) or self._shape(keys)
        if shape.size + sum(map(len, found.values())) != len(raw):
            found = draft.open(raw, self._path)
            shape = self._shape(tuple(found))
        return found, shape

    def _shape(self, keys: tuple[str, ...]) -> Shape:
        shape = self._shapes.get(keys)
        if shape is None:
            if len(self._shapes) >= _SHAPES:
                self._shapes.clear()
            steps = tuple(
                (key, self._path + key, self._steps.get(key, self._otherwise)) for key in keys
            )
            shape = self._shapes[keys] = Shape(keys, steps, self._repeated)
        return shape
