"""
Where a source that was moved landed before: under paths that are no longer there.

The first record of a source's own files is its first, unless it was moved; then what is
before it landed under another path of the same session and stream. A source may have
been moved more than once.

Source: docs/format.md, "Sources": "old path gone, and a new path's lines begin with its
landed chain".
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

from collectord.adapter import Reader, Source
from collectord.audit.landed import Cut, Key, ends_of
from collectord.landing import chain
from collectord.pipeline import Roots
from collectord.sources import Anchor, first_broken

__all__ = ["Moves"]

_Stream = tuple[str, str, str, str, str]


class _Before(NamedTuple):
    key: Key
    last: Anchor
    cuts: list[Cut]


class Moves:
    """The landed files of all sources, and which of them belong to a source that moved on."""

    def __init__(self, landed: dict[Key, list[Cut]], roots: Roots) -> None:
        self._landed = landed
        self._roots = roots
        self._streams: dict[_Stream, list[Key]] = {}
        for key, cuts in landed.items():
            self._streams.setdefault(_stream_of(cuts[-1]), []).append(key)
        self.taken: set[Key] = set()
        """Sources whose files count as those of another path by now."""

    def history(self, source: Source, own: Sequence[Cut], fd: int) -> list[Cut]:
        """Return the files of *source* (open as *fd*), those from before it was moved included."""
        cuts = list(own)
        stream = (
            source.adapter,
            source.session,
            source.kind.value,
            source.stream,
            source.batch,
        )
        seen = {(source.adapter, source.src)}
        while True:
            ends = ends_of(cuts)
            if ends is not None and (ends[0].ord == 1 or source.reader is Reader.DOCUMENT):
                return cuts
            first = ends[0] if ends is not None else None
            before = self._before(source, stream, seen, cuts, first, fd)
            if before is None:
                return cuts
            seen.add(before.key)
            self.taken.add(before.key)
            cuts = before.cuts + cuts

    def _before(
        self,
        source: Source,
        stream: _Stream,
        seen: set[Key],
        cuts: list[Cut],
        first: Anchor | None,
        fd: int,
    ) -> _Before | None:
        best: _Before | None = None
        for key in self._streams.get(stream, ()):
            if key in seen:
                continue
            theirs = [cut for cut in self._landed[key] if not cuts or cut.seq < cuts[0].seq]
            ends = ends_of(theirs)
            if ends is None or (best is not None and best.last.ord >= ends[1].ord):
                continue
            last = ends[1]
            if first is not None:
                fits = last.ord < first.ord and last.off + last.size < first.off
            else:
                fits = self._is_gone(key) and _begins_with(
                    fd, theirs, last, is_document=source.reader is Reader.DOCUMENT
                )
            if fits:
                best = _Before(key, last, theirs)
        return best

    def _is_gone(self, key: Key) -> bool:
        path = self._roots.path_of(*key)
        return path is not None and not os.path.lexists(path)


def _stream_of(cut: Cut) -> _Stream:
    header = cut.header
    adapter = header.adapter.partition("/")[0]
    return (adapter, header.session, header.kind, header.stream, header.batch)


def _begins_with(fd: int, cuts: Sequence[Cut], last: Anchor, *, is_document: bool) -> bool:
    """Whether the file holds the records of *cuts* where they were; of a document the last."""
    if is_document:
        return first_broken(fd, [last]) is None
    links = (link.anchor for cut in cuts for link in chain(cut.path) if link.anchor)
    return first_broken(fd, links) is None
