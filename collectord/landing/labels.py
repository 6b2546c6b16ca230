"""
Which label each adapter's root has in this landing root.

A source is named by its path below its adapter's root. A second root of one adapter
would give the same names again, so it is labelled: ``@<label>/…``. The first root that
a landing root meets has no label. Which was first cannot be re-derived, so it is kept
in ``<root>/.collectord/roots``, append-only and synced before the first record lands.

Source: docs/format.md, "Sources".
"""

import hashlib
import os
import re
from pathlib import Path
from typing import Final

import msgspec

from collectord.landing.durable import fsync, fsync_folder
from collectord.landing.root import LandingRoot

__all__ = ["RootLabels"]

_PLAIN: Final = re.compile(r"[^A-Za-z0-9]+")


class _Entry(msgspec.Struct, frozen=True):
    adapter: str
    path: str
    label: str


class RootLabels:
    """The labels of one landing root."""

    def __init__(self, root: LandingRoot) -> None:
        self._path = root.own / "roots"
        self._mode = root.modes.open
        self._entries: list[_Entry] = []
        self._torn = False
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            return
        self._torn = not text.endswith(b"\n") and bool(text)
        for line in text.split(b"\n"):
            try:
                self._entries.append(msgspec.json.decode(line, type=_Entry))
            except msgspec.DecodeError:
                continue  # a torn last line: its root has landed nothing yet

    def find(self, adapter: str, path: Path) -> str | None:
        """Return the label of *path* as a root of *adapter*; None: it has none yet."""
        wanted = os.fsdecode(path)
        for entry in self._entries:
            if entry.adapter == adapter and entry.path == wanted:
                return entry.label
        return None

    def label_of(self, adapter: str, path: Path, *, keep: bool = True) -> str:
        """
        Return the label of *path*, giving it one when it is new; for good, when *keep* is set.

        Raises:
            OSError: It could not be written.
        """
        found = self.find(adapter, path)
        if found is not None:
            return found
        label = ""
        if any(entry.adapter == adapter for entry in self._entries):
            label = _label_for(path)
        if not keep:
            return label
        entry = _Entry(adapter, os.fsdecode(path), label)
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, self._mode)
        try:
            os.write(fd, (b"\n" if self._torn else b"") + msgspec.json.encode(entry) + b"\n")
            fsync(fd)
        finally:
            os.close(fd)
        fsync_folder(self._path.parent)
        self._torn = False
        self._entries.append(entry)
        return label

    def roots(self) -> list[tuple[str, Path, str]]:
        """Return every (adapter, path, label) that this landing root has met."""
        return [(entry.adapter, Path(entry.path), entry.label) for entry in self._entries]


def _label_for(path: Path) -> str:
    """Return a name that a person recognises and that no other path has."""
    parts = [part for part in path.parts if part not in ("/", "projects")]
    plain = _PLAIN.sub("-", parts[-1] if parts else "").strip("-").lower()[:24]
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest
