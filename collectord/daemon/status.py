"""
What is known of a landing root from outside: the lock, and the state store.

Needs no running daemon and waits for none.
"""

from pathlib import Path
from typing import NamedTuple

from collectord.config import Config
from collectord.pipeline import landing_root
from collectord.state import Holder, SourceRow, Store, holder_of, store_path

__all__ = ["Status", "status_of"]


class Status(NamedTuple):
    """One landing root at a moment."""

    root: Path
    store: Path
    holder: Holder | None
    """Who writes to it now; None: nobody."""
    counts: dict[str, int]
    """Sources, sessions, files, records and bytes; empty when nothing was collected yet."""
    pending: list[SourceRow]
    """Sources that end in a line without its newline."""
    growing: list[SourceRow]
    """Sources whose newest cut is open."""
    refused: list[SourceRow]
    """Sources of which nothing lands, with the reason in ``note``."""


def status_of(config: Config, state_dir: Path) -> Status:
    """
    Return the status of the configured landing root.

    Raises:
        StateError: The state store is there and cannot be read.
    """
    root = landing_root(config)
    path = store_path(state_dir, root.path)
    holder = holder_of(root)
    if not path.exists():
        return Status(root.path, path, holder, {}, [], [], [])
    store = Store(path, "", read_only=True)
    try:
        rows = list(store.sources())
        counts = store.counts()
    finally:
        store.close()
    return Status(
        root.path,
        path,
        holder,
        counts,
        [row for row in rows if row.pending_bytes and not row.gone],
        [row for row in rows if row.last is not None and not row.sealed and not row.gone],
        [row for row in rows if row.note],
    )
