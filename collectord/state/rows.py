"""What the state store remembers, as values."""

from typing import NamedTuple

from collectord.sources import Anchor, Stat

__all__ = ["FileRow", "SourceRow"]


class SourceRow(NamedTuple):
    """One source: where it stood when it was last looked at."""

    adapter: str
    src: str
    session: str
    stream: str
    batch: str
    kind: str
    stat: Stat | None
    """The file's figures when it was read to its end; None: it was not."""
    last: Anchor | None
    """The last record that was landed."""
    seq: int = 0
    """The file that it is in."""
    sealed: bool = False
    """Whether that file is sealed: only then is an unchanged source not opened again."""
    pending_bytes: int = 0
    """Bytes after the last newline."""
    gone: bool = False
    generation: int = 0
    note: str = ""
    """Why nothing of the source lands, in one sentence; empty when all is well."""

    @property
    def key(self) -> tuple[str, str]:
        """What names the source."""
        return (self.adapter, self.src)


class FileRow(NamedTuple):
    """One sealed file."""

    session: str
    seq: int
    path: str
    """Below the landing root."""
    adapter: str
    src: str
    records: int
    bytes: int
    sha256: str
