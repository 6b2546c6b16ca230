"""
Where a source that was moved landed before: under paths that are no longer there.

The same rules as where it is collected (`collectord.landing.lineage`), so that the audit
never calls a move a loss. They are asked here without a session that is written to.
"""

import os
from collections.abc import Sequence

from collectord.adapter import Reader, Source
from collectord.audit.landed import Cut, Key
from collectord.landing import holds, lineage
from collectord.pipeline import Roots

__all__ = ["Moves"]

_Stream = tuple[str, str, str, str, str]


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
        """
        Return the files of *source* (open as *fd*), those from before it was moved included.

        Raises:
            OSError: A file cannot be read.
        """
        stream = (source.adapter, source.session, source.kind.value, source.stream, source.batch)
        keys = self._streams.get(stream, [])
        others = {key[1]: self._landed[key] for key in keys if key[1] != source.src}
        is_document = source.reader is Reader.DOCUMENT
        if not others or (own and is_document):
            return list(own)

        def continues(src: str, cuts: Sequence[Cut]) -> bool:
            path = self._roots.path_of(source.adapter, src)
            if path is None or os.path.lexists(path):
                return False
            return holds(fd, cuts, is_document=is_document)

        cuts, moved_from = lineage(own, others, continues)
        self.taken.update((source.adapter, src) for src in moved_from)
        return cuts


def _stream_of(cut: Cut) -> _Stream:
    header = cut.header
    adapter = header.adapter.partition("/")[0]
    return (adapter, header.session, header.kind, header.stream, header.batch)
