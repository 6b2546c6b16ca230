"""
The adapter ``claude-code-local``: Claude Code's files on this machine.

Where they are is `discover`'s, how they are read the `dialect`'s; this names both.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from collectord.adapter import Source
from collectord_adapters.claude_code import discover
from collectord_adapters.claude_code.dialect import ClaudeCodeDialect

__all__ = ["ADAPTER", "ClaudeCode"]


class ClaudeCode:
    """How Claude Code's records are acquired."""

    name: Final = discover.NAME
    version: Final = "0.1.0"
    title: Final = "Claude Code"
    dialect: Final = ClaudeCodeDialect()

    def roots(self, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Return the places where Claude Code keeps sessions, existing or not."""
        return discover.roots(environ, home)

    def roots_at(self, path: Path) -> Sequence[Path]:
        """Return the roots that *path* holds, is, or lies in; reads folders."""
        return discover.roots_at(path)

    def locate(self, root: Path, path: Path) -> Source | None:
        """Return the source that *path* is, by its name alone."""
        return discover.locate(root, path)


ADAPTER: Final = ClaudeCode()
