"""
Find every source below the roots.

A file with several names (hard links, symbolic links, folders behind links) is one
source. Of its names the one that has landed counts, and the lesser where none has.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from collectord.adapter import Source
from collectord.errors import NameRefused
from collectord.landing import LandingRoot, read_header
from collectord.landing.root import parse_name
from collectord.pipeline.roots import Roots
from collectord.sources import Stat
from collectord.watch import walk

__all__ = ["Found", "discover"]


class Found(NamedTuple):
    """A source with the figures of its file."""

    source: Source
    stat: Stat


def discover(
    roots: Roots, landing: LandingRoot, linked: Callable[[Path], None] = lambda _link: None
) -> dict[tuple[str, str], Found]:
    """Return every source by its (adapter, src), each file once; *linked* as for `walk`."""
    found: dict[tuple[str, str], Found] = {}
    files: dict[tuple[int, int], list[Found]] = {}
    for root in roots.all:
        for top in root.tops:
            for path, stat in walk(top, linked):
                source = root.locate(path)
                if source is None or (source.adapter, source.src) in found:
                    continue
                one = found[(source.adapter, source.src)] = Found(source, stat)
                files.setdefault(stat[:2], []).append(one)
    for names in files.values():
        if len(names) > 1:
            kept = next((one for one in names if _has_landed(one.source, landing)), min(names))
            for one in names:
                if one is not kept:
                    del found[(one.source.adapter, one.source.src)]
    return found


def _has_landed(source: Source, landing: LandingRoot) -> bool:
    if not source.is_identified:
        return False
    try:
        folder = landing.folder(source.kind, source.session, source.stream, source.batch)
        entries = sorted(folder.iterdir())
    except (NameRefused, OSError):
        return False
    for entry in entries:
        header = read_header(entry) if parse_name(entry) is not None else None
        if (
            header is not None
            and header.src == source.src
            and header.adapter.partition("/")[0] == source.adapter
        ):
            return True
    return False
