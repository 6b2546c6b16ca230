"""
Where a source that was moved landed before: under paths that are no longer there.

What landed of a source has no hole, unless it was moved: then what is missing before its
first record, between two of its files (it was moved away and back) or after its last one
landed under other paths of the same session and stream, between the same numbers.

Source: docs/format.md, "Sources": "old path gone, and a new path's lines begin with its
landed chain".
"""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collectord.adapter import Reader, Source
from collectord.audit.landed import Cut, Key, ends_of
from collectord.landing import chain
from collectord.pipeline import Roots
from collectord.sources import Anchor, first_broken

__all__ = ["Moves"]

_Stream = tuple[str, str, str, str, str]


class _Span(NamedTuple):
    """Files of one source with successive numbers, and the first and last record in them."""

    cuts: list[Cut]
    first: Anchor
    last: Anchor


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
        stream = (source.adapter, source.session, source.kind.value, source.stream, source.batch)
        own_key = (source.adapter, source.src)
        others = [key for key in self._streams.get(stream, ()) if key != own_key]
        cuts = list(own)
        if not others or (cuts and source.reader is Reader.DOCUMENT):
            return cuts
        while True:
            spans = [_Span([cut], *ends) for cut in cuts if (ends := ends_of([cut])) is not None]
            found = [
                (span.last.ord, key, span)
                for key in others
                for span in self._fitting(key, spans, fd, source)
            ]
            if not found:
                return cuts
            _, key, span = max(found, key=lambda one: one[0])
            self.taken.add(key)
            cuts = sorted([*cuts, *span.cuts], key=lambda cut: cut.seq)

    def _fitting(
        self, key: Key, spans: Sequence[_Span], fd: int, source: Source
    ) -> Iterator[_Span]:
        """Yield the files of *key* that fill a hole in *spans*."""
        for at in range(len(spans) + 1):
            before = spans[at - 1] if at else None
            after = spans[at] if at < len(spans) else None
            low = before.cuts[0].seq if before else 0
            group = [
                cut
                for cut in self._landed[key]
                if cut.seq > low and (after is None or cut.seq < after.cuts[0].seq)
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
                cuts = [cut for span in spans for cut in span.cuts] + group
                is_document = source.reader is Reader.DOCUMENT
                fits = self._is_gone(key) and _holds(fd, cuts, last, is_document=is_document)
            if fits:
                yield _Span(group, first, last)

    def _is_gone(self, key: Key) -> bool:
        path = self._roots.path_of(*key)
        return path is not None and not os.path.lexists(path)


def _stream_of(cut: Cut) -> _Stream:
    header = cut.header
    adapter = header.adapter.partition("/")[0]
    return (adapter, header.session, header.kind, header.stream, header.batch)


def _holds(fd: int, cuts: Sequence[Cut], last: Anchor, *, is_document: bool) -> bool:
    """Whether the file holds the newest records of *cuts* where they were; of a document the last."""
    if is_document:
        return first_broken(fd, [last]) is None
    newest = {
        link.anchor.ord: link.anchor
        for cut in cuts
        for link in chain(cut.path)
        if link.anchor is not None
    }
    return first_broken(fd, newest.values()) is None
