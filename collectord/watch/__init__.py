"""Which paths changed: events where they arrive, and walks because events get lost everywhere."""

from collectord.watch.changes import ChangedPaths
from collectord.watch.filesystem import is_remote
from collectord.watch.native import watch_root
from collectord.watch.walk import walk

__all__ = ["ChangedPaths", "is_remote", "walk", "watch_root"]
