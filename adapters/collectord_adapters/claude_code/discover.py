"""
Where Claude Code keeps its sessions, and which file is what.

A file is known by its name alone: `locate` reads nothing and takes the same time for
any path. The session is the folder's or the file's name; only a child agent's file at a
project's top (an older layout) has its session written inside, so its identity is open.

Source: docs/dialects/claude-code.md, "Where".
"""

import itertools
import os
import re
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from collectord.adapter import Reader, Source
from collectord.sessiondata import Kind

__all__ = ["NAME", "locate", "roots", "roots_at"]

NAME: Final = "claude-code-local"

_DESKTOP: Final = "local-agent-mode-sessions"
"""The desktop app keeps a private ``.claude/projects`` below it for each of its sessions."""

_SESSION: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
"""A UUID in either case; the spelling is part of the name."""
_AGENT: Final = re.compile(r"agent-([A-Za-z0-9_-]+)(\.jsonl|\.meta\.json)")
_MANIFEST: Final = re.compile(r"(wf_.+)\.json")
_SCRIPT: Final = re.compile(r".+-(wf_.+)\.js")
"""Split at the last ``-wf_``: a run's id holds hyphens itself."""

_WALK_DEPTH: Final = 8
_WALK_ENTRIES: Final = 20_000
_NOT_WALKED: Final = frozenset({".git", "node_modules", ".venv", "__pycache__"})


def roots(environ: Mapping[str, str], home: Path) -> list[Path]:
    """Return every place where Claude Code keeps sessions on this system, *environ* included."""
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    if not config.is_absolute():
        config = home / ".config"
    named = [
        _expanded(name.strip(), home) for name in environ.get("CLAUDE_CONFIG_DIR", "").split(",")
    ]
    found = [folder / "projects" for folder in named if folder is not None]
    found += [
        config / "claude" / "projects",
        home / ".config" / "claude" / "projects",
        home / ".claude" / "projects",
    ]
    if sys.platform == "darwin":
        found += [home / "Library" / "Application Support" / "Claude" / _DESKTOP]
    else:
        found += [config / "Claude" / _DESKTOP, home / ".config" / "Claude" / _DESKTOP]
    return list(dict.fromkeys(found))


def locate(root: Path, path: Path) -> Source | None:
    """Return the source that *path* below *root* is, or None; touches no file."""
    above, below = str(root).rstrip(os.sep) + os.sep, str(path)
    if not below.startswith(above):
        return None
    parts = below[len(above) :].split(os.sep)  # noqa: PTH206 - a string is all it needs
    src = "/".join(parts)
    if root.name == _DESKTOP:
        parts = _below_projects(parts)
    named = _named(parts)
    if named is None:
        return None
    kind, session, stream, batch = named
    reader = Reader.LINES if kind in (Kind.TRANSCRIPT, Kind.JOURNAL) else Reader.DOCUMENT
    return Source(NAME, src, path, kind, reader, session, stream, batch)


def _named(parts: list[str]) -> tuple[Kind, str, str, str] | None:
    """Return (kind, session, stream, batch) of a path below ``projects/``."""
    match parts:
        case [_, name] if name.endswith(".jsonl"):
            if _SESSION.fullmatch(name[:-6]):
                return Kind.TRANSCRIPT, name[:-6], "main", ""
            agent = _AGENT.fullmatch(name)
            return (Kind.TRANSCRIPT, "", agent[1], "") if agent else None
        case [_, session, *rest] if _SESSION.fullmatch(session):
            return _in_session(session, rest)
    return None


def _in_session(session: str, rest: list[str]) -> tuple[Kind, str, str, str] | None:
    match rest:
        case ["subagents", name]:
            return _agent(session, name, "")
        case ["subagents", "workflows", run, "journal.jsonl"]:
            return Kind.JOURNAL, session, "", run
        case ["subagents", "workflows", run, name]:
            return _agent(session, name, run)
        case ["workflows", name]:
            manifest = _MANIFEST.fullmatch(name)
            return (Kind.WORKFLOW_MANIFEST, session, "", manifest[1]) if manifest else None
        case ["workflows", "scripts", name]:
            script = _SCRIPT.fullmatch(name)
            return (Kind.WORKFLOW_SCRIPT, session, "", script[1]) if script else None
    return None


def _agent(session: str, name: str, run: str) -> tuple[Kind, str, str, str] | None:
    agent = _AGENT.fullmatch(name)
    if agent is None:
        return None
    kind = Kind.TRANSCRIPT if agent[2] == ".jsonl" else Kind.AGENT_META
    return kind, session, agent[1], run


def _below_projects(parts: list[str]) -> list[str]:
    """Cut the desktop app's own folders off: what is left lies below a ``projects/``."""
    for at, part in enumerate(parts[:-1]):
        if part == ".claude" and parts[at + 1] == "projects":
            return parts[at + 2 :]
    return []


def roots_at(path: Path) -> list[Path]:
    """
    Return the roots that *path* is, holds or lies in.

    Known by their shape: a root holds project folders, those hold sessions. Reads
    folders, at most 20,000 entries, and follows no symbolic link downwards.
    """
    path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    for folder in (path, *path.parents):
        if folder.name == _DESKTOP:
            return [folder]
    above = _root_above(path)
    if above is not None:
        return [above]
    if not path.is_dir():
        return []
    if _holds_projects(path):
        return [path]
    return sorted(_roots_below(path))


def _root_above(path: Path) -> Path | None:
    """Return the root that *path* (a project's folder, a session's, a file) lies in."""
    # The farthest first: a folder inside a session can look like a project's.
    for at in range(min(6, len(path.parents) - 1), 0, -1):
        root = path.parents[at]
        if locate(root, path) is not None and path.is_file():
            return root
    for folder in (path, *path.parents):
        if _SESSION.fullmatch(folder.name) and _is_session(folder, path):
            return folder.parent.parent
    return path.parent if path.is_dir() and _holds_sessions(path) else None


def _is_session(folder: Path, path: Path) -> bool:
    """Whether *folder*, named like a session, is one that *path* is or lies in."""
    inside = path.relative_to(folder).parts[:1]
    if inside and inside[0] not in ("subagents", "workflows", "tool-results"):
        return False
    return (
        (folder / "subagents").is_dir()
        or (folder / "workflows").is_dir()
        or folder.with_name(f"{folder.name}.jsonl").is_file()
    )


def _holds_projects(folder: Path) -> bool:
    """Whether *folder* holds a project's folder."""
    return any(
        entry.is_dir() and entry.name != "subagents" and _holds_sessions(Path(entry.path))
        for entry in _entries(folder)
    )


def _holds_sessions(folder: Path) -> bool:
    """Whether *folder* holds a session's file or folder, as a project's folder does."""
    for entry in _entries(folder):
        name = entry.name
        if name.endswith(".jsonl"):
            if _SESSION.fullmatch(name[:-6]) or _AGENT.fullmatch(name):
                return True
        elif _SESSION.fullmatch(name) and any(
            inner.name in ("subagents", "workflows") for inner in _entries(Path(entry.path))
        ):
            return True
    return False


def _roots_below(top: Path) -> Iterator[Path]:
    """Yield the ``projects`` folders below *top*."""
    waiting = deque([(top, 0)])
    left = _WALK_ENTRIES
    while waiting and left > 0:
        folder, depth = waiting.popleft()
        for entry in _entries(folder):
            left -= 1
            if entry.name in _NOT_WALKED or not entry.is_dir(follow_symlinks=False):
                continue
            inner = Path(entry.path)
            if entry.name == _DESKTOP or (
                entry.name == "projects" and (folder.name == ".claude" or _holds_projects(inner))
            ):
                yield inner
            elif depth + 1 < _WALK_DEPTH:
                waiting.append((inner, depth + 1))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what *folder* holds, by name; nothing when it cannot be read."""
    try:
        with os.scandir(folder) as found:
            return sorted(itertools.islice(found, _WALK_ENTRIES), key=lambda entry: entry.name)
    except OSError:
        return []


def _expanded(name: str, home: Path) -> Path | None:
    """Return the folder that a user wrote as *name*; None when that is nothing."""
    if not name:
        return None
    if name == "~" or name.startswith("~/"):
        return home / name[2:]
    return Path(name)
