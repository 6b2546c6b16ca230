"""
Ask the sources what an open file's records should be.

Recovery keeps a line only when a fresh conversion of its source record gives the same
bytes. Where the source, the adapter's version or the dialect is no longer the same,
there is no testimony, and the lines are judged by themselves.
"""

import os
from collections.abc import Iterable

from collectord.adapter import NO_CONTEXT, Context, Dialect, Identity, Source
from collectord.errors import SourceError
from collectord.landing import Testimony
from collectord.pipeline.convert import land_line, long_line
from collectord.pipeline.roots import Roots
from collectord.sessiondata import Header
from collectord.sources import SHA_DIGITS, Anchor, RawRecord, open_source, sha256_of_range
from collectord.sources.long_record import long_record

__all__ = ["SourceWitness"]


class SourceWitness:
    """Finds a header's source below the adapters' roots."""

    def __init__(self, roots: Roots, convert_bytes: int) -> None:
        self._roots = roots
        self._convert_bytes = convert_bytes

    def __call__(self, header: Header) -> Testimony | None:
        """Return the testimony of the header's source; None where it cannot give one."""
        name, _, version = header.adapter.partition("/")
        adapter = self._roots.adapter(name)
        path = self._roots.path_of(name, header.src)
        if adapter is None or path is None or adapter.version != version:
            return None
        if adapter.dialect.name != header.dialect:
            return None
        source = self._roots.source_at(path)
        if source is None or source.kind != header.kind or source.src != header.src:
            return None
        identity = Identity(header.session, header.stream, header.batch)
        try:
            fd = open_source(path)
        except (SourceError, OSError):
            return None
        return _SourceTestimony(
            fd, source.identified(identity), adapter.dialect, self._convert_bytes
        )


class _SourceTestimony:
    def __init__(self, fd: int, source: Source, dialect: Dialect, convert_bytes: int) -> None:
        self._fd = fd
        self._source = source
        self._dialect = dialect
        self._convert_bytes = convert_bytes
        self.context: Context = NO_CONTEXT

    def line(self, anchor: Anchor) -> Iterable[bytes] | None:
        try:
            return self._line(anchor)
        except OSError:
            return None

    def close(self) -> None:
        os.close(self._fd)

    def _line(self, anchor: Anchor) -> Iterable[bytes] | None:
        sha = sha256_of_range(self._fd, anchor.off, anchor.size)
        if not sha.startswith(anchor.sha):
            return None
        sha = sha[:SHA_DIGITS]
        if anchor.size > self._convert_bytes:
            long = long_record(self._fd, anchor.ord, anchor.off, anchor.size)
            return None if long is None else long_line(self._fd, long, self._convert_bytes)
        data = os.pread(self._fd, anchor.size, anchor.off)
        raw = RawRecord(anchor.ord, anchor.off, anchor.size, sha, data)
        line = bytearray()
        self.context, _ = land_line(line, raw, self._source, self._dialect, self.context)
        return (bytes(line),)
