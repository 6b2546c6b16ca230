"""The state store and the lock of a landing root: both may vanish without a loss."""

from collectord.state.lock import Holder, RootLock, holder_of
from collectord.state.rows import FileRow, SourceRow
from collectord.state.store import Store, store_path

__all__ = ["FileRow", "Holder", "RootLock", "SourceRow", "Store", "holder_of", "store_path"]
