"""
Where reading of a source goes on, derived from what has landed.

The newest file of the source that has a record says it. What the state store remembers
counts only where it knows of a later sealed file that someone removed. A source that
was moved goes on where its old path ended; one that was rewritten before is read from
its start, and only what was never landed lands.

Source: docs/format.md, "Exactly once" and "Sources".
"""

import os
from collections.abc import Iterable, Sequence
from typing import Final

import structlog
from structlog.typing import FilteringBoundLogger

from collectord.adapter import Reader, Source
from collectord.landing import LandedFile, LandedSession, chain, holds, lineage, was_rewritten
from collectord.pipeline.roots import Roots
from collectord.pipeline.track import Track
from collectord.sources import Anchor, Cursor
from collectord.state import SourceRow

__all__ = ["chain_set", "history", "resume"]

log: FilteringBoundLogger = structlog.get_logger()

_LINKS: Final = 16


def resume(
    source: Source, session: LandedSession, fd: int, row: SourceRow | None, roots: Roots
) -> Track:
    """
    Return the track of *source*, which is not tracked yet; open files are taken from *session*.

    Args:
        source: Identified.
        session: Recovered.
        fd: The source, open for reading; the track owns it from now on.
        row: What the state store remembers of it.
        roots: To see whether the path of another source is gone.

    Raises:
        OSError: A landed file cannot be read.
    """
    track = Track(source, session, fd)
    files = history(source, session, fd, roots)
    last = session.last_of(files)
    if last is not None:
        file, track.last = last
        track.last_seq = file.seq
    if row is not None and row.sealed and row.last is not None:
        _mind_removed_files(track, files, row)
    if source.reader is Reader.DOCUMENT or track.last is None:
        return track
    if was_rewritten(files):
        track.start_over(chain_set(files))
        track.generation = max(1, row.generation if row is not None else 0)
        return track
    if last is not None:
        track.head = _links(files[0], _LINKS, end=False)
        track.tail = _links(last[0], _LINKS, end=True)
    if track.last not in track.tail:
        track.tail = [track.last]
    track.head = track.head or track.tail
    track.cursor = Cursor(track.last.ord, track.last.off + track.last.size)
    track.unended = True
    return track


def history(source: Source, session: LandedSession, fd: int, roots: Roots) -> list[LandedFile]:
    """Return the files of *source*, those from before it was moved included, oldest first."""
    own = session.files_of(source.adapter, source.src)
    others = session.neighbours(source)
    is_document = source.reader is Reader.DOCUMENT
    if not others or (own and is_document):
        return own

    def continues(src: str, files: Sequence[LandedFile]) -> bool:
        path = roots.path_of(source.adapter, src)
        if path is None or os.path.lexists(path):
            return False
        return holds(fd, files, is_document=is_document)

    files, moved_from = lineage(own, others, continues)
    for src in sorted(moved_from):
        log.debug("source.moved", src=source.src, moved_from=src)
    return files


def chain_set(files: Iterable[LandedFile]) -> dict[int, set[str]]:
    """Return every (ord, sha) that *files* hold."""
    found: dict[int, set[str]] = {}
    for anchor in LandedSession.chain_of(list(files)):
        found.setdefault(anchor.ord, set()).add(anchor.sha)
    return found


def _mind_removed_files(track: Track, files: Sequence[LandedFile], row: SourceRow) -> None:
    """Go on after a sealed file that the store knows and that is no longer there."""
    assert row.last is not None
    if row.seq <= max((file.seq for file in files), default=0):
        return
    log.warning("file.missing", src=track.source.src, session=track.source.session, seq=row.seq)
    track.last = row.last
    track.last_seq = row.seq


def _links(file: LandedFile, count: int, *, end: bool) -> list[Anchor]:
    found: list[Anchor] = []
    for landed in chain(file.path):
        if landed.anchor is None:
            continue
        found.append(landed.anchor)
        if end and len(found) > count:
            del found[0]
        elif not end and len(found) == count:
            break
    return found
