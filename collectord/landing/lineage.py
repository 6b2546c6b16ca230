"""
Which landed files are a source's own history, also where it was moved.

What landed of a source has no hole, unless it was moved: then what is missing before
its first record, between two of its files (it was moved away and back) or after its
last one landed under other paths of the same stream, between the same numbers.

Source: docs/format.md, "Sources": "old path gone, and a new path's lines begin with its
landed chain".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from collectord.landing.chain import chain, last_landed
from collectord.sources import Anchor, Cursor, first_broken, read_lines

__all__ = ["Numbered", "ends_of", "holds", "lineage", "was_rewritten"]


class Numbered(Protocol):
    """A file with its number, as far as a lineage needs to know it."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def seq(self) -> int:
        """Its number in its session."""


_File = TypeVar("_File", bound=Numbered)


class _Span(NamedTuple):
    """Files with successive numbers, by the first one's number, and the ends of their records."""

    seq: int
    first: Anchor
    last: Anchor


def lineage(
    own: Sequence[_File],
    others: Mapping[str, Sequence[_File]],
    continues: Callable[[str, Sequence[_File]], bool],
) -> tuple[list[_File], set[str]]:
    """
    Return (a source's files in order of number, the other paths whose files are among them).

    Args:
        own: The files under the source's present path, oldest first.
        others: The files of other paths of the same stream and kind, by ``src``.
        continues: Whether the source is what was collected under a path that is not there
            any more; asked with that path and all the files that would be its history.

    Raises:
        OSError: A file cannot be read.
    """
    files = list(own)
    taken: set[str] = set()
    while len(taken) < len(others) + len(files):
        spans = [_Span(f.seq, *ends) for f in files if (ends := ends_of([f])) is not None]
        found = [
            (last, src, group)
            for src, theirs in others.items()
            for last, group in _fitting(src, theirs, files, spans, continues)
        ]
        if not found:
            break
        _, src, group = max(found, key=lambda one: one[0])
        taken.add(src)
        files = sorted([*files, *group], key=lambda file: file.seq)
    return files, taken


def _fitting(
    src: str,
    theirs: Sequence[_File],
    files: Sequence[_File],
    spans: Sequence[_Span],
    continues: Callable[[str, Sequence[_File]], bool],
) -> Iterator[tuple[int, list[_File]]]:
    """Yield (last ord, files) of what fills a hole before, between or after *spans*."""
    known = {file.seq for file in files}
    for at in range(len(spans) + 1):
        before = spans[at - 1] if at else None
        after = spans[at] if at < len(spans) else None
        group = [
            file
            for file in theirs
            if file.seq not in known
            and (before is None or file.seq > before.seq)
            and (after is None or file.seq < after.seq)
        ]
        ends = ends_of(group)
        if ends is None:
            continue
        first, last = ends
        if before is not None and first.ord <= before.last.ord:
            continue
        if after is not None:
            fits = last.ord < after.first.ord and last.off + last.size < after.first.off
        else:
            fits = continues(src, [*files, *group])
        if fits:
            yield last.ord, group


def ends_of(files: Sequence[Numbered]) -> tuple[Anchor, Anchor] | None:
    """Return the first and the last record of *files*, None when there is none."""
    first = next(
        (link.anchor for file in files for link in chain(file.path) if link.anchor is not None),
        None,
    )
    last = next((end for file in reversed(files) if (end := last_landed(file.path))), None)
    return None if first is None or last is None else (first, last)


def current_view(files: Sequence[Numbered]) -> list[Anchor]:
    """Return the newest record of each ``ord`` in *files*, in order of ``ord``."""
    newest = {
        link.anchor.ord: link.anchor
        for file in files
        for link in chain(file.path)
        if link.anchor is not None
    }
    return [newest[ord_] for ord_ in sorted(newest)]


def was_rewritten(files: Sequence[Numbered]) -> bool:
    """Return whether a file starts at or below what was landed before it: a generation."""
    highest = 0
    for file in files:
        ends = ends_of([file])
        if ends is None:
            continue
        if ends[0].ord <= highest:
            return True
        highest = ends[1].ord
    return False


def holds(fd: int, files: Sequence[Numbered], *, is_document: bool) -> bool:
    """Return whether a source has the current view of *files* in it; of a document the last one."""
    if is_document:
        ends = ends_of(files)
        return ends is not None and first_broken(fd, [ends[1]]) is None
    view = current_view(files)
    if first_broken(fd, view) is None:
        return True
    # After a rewrite, records that did not change stand elsewhere than where they landed.
    return was_rewritten(files) and _has_lines(fd, {link.ord: link.sha for link in view})


def _has_lines(fd: int, wanted: dict[int, str]) -> bool:
    cursor = Cursor()
    more = True
    while more and wanted:
        tail = read_lines(fd, cursor)
        for raw in tail.raws:
            sha = wanted.pop(raw.ord, raw.sha)
            if not (sha.startswith(raw.sha) or raw.sha.startswith(sha)):
                return False
        cursor, more = tail.cursor, tail.more
    return not wanted
