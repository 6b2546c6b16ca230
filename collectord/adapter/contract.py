"""
What a runtime's plug-in provides.

Two objects, so that another transport can share one of them: an `Adapter` says how
records are acquired (which files, read how), a `Dialect` whose schema they are read
as. Neither reads a file: the pipeline does, with the reader that the adapter names.

Source: docs/adapters.md.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from msgspec import Raw

from collectord.sessiondata import Kind, Record
from collectord.sources import RawRecord

__all__ = [
    "IDENTIFY_BYTES",
    "IDENTIFY_RECORDS",
    "NO_CONTEXT",
    "Account",
    "Adapter",
    "Context",
    "Converted",
    "Dialect",
    "Identity",
    "Reader",
    "Source",
]

IDENTIFY_RECORDS = 64
"""How many first records `Dialect.identify` is shown at most."""

IDENTIFY_BYTES = 1 << 20
"""How many bytes of them at most."""


class Reader(StrEnum):
    """How a source is read."""

    LINES = "lines"
    """It grows at its end, a record a line."""
    DOCUMENT = "document"
    """It is rewritten whole and is one record."""


class Identity(NamedTuple):
    """Which session, stream and batch a source belongs to."""

    session: str
    stream: str = ""
    batch: str = ""


class Source(NamedTuple):
    """One file that an adapter names."""

    adapter: str
    """The adapter's name; (``adapter``, ``src``) is the source."""
    src: str
    """Path below the adapter's root, with forward slashes; ``@<label>/…`` in a further root."""
    path: Path
    """Where it is on this machine."""
    kind: Kind
    reader: Reader
    session: str = ""
    """Empty while the identity is open: the session is written inside the file."""
    stream: str = ""
    batch: str = ""

    @property
    def is_identified(self) -> bool:
        """Whether the session is known."""
        return bool(self.session)

    def identified(self, identity: Identity) -> "Source":
        """Return this source with its identity filled in."""
        return self._replace(
            session=identity.session,
            stream=identity.stream or self.stream,
            batch=identity.batch or self.batch,
        )


class Account(NamedTuple):
    """
    Where each byte of a source went: seven sums that add up to its size.

    A member (key, colon, value) is given to the first place that holds it; commas, braces,
    white space, line ends, blank lines and a BOM are ``syntax``.
    """

    part: int = 0
    role: int = 0
    header: int = 0
    trailing: int = 0
    dropped: int = 0
    unknown: int = 0
    syntax: int = 0

    def plus(self, other: "Account") -> "Account":
        """Return both together."""
        return Account(*map(int.__add__, self, other))

    @property
    def total(self) -> int:
        """The sum of the sums, in bytes."""
        return sum(self)


Context = Mapping[str, Raw]
"""What was last stated in the current file (the environment), by member; never mutated."""

NO_CONTEXT: Context = {}
"""The context at the start of each file."""


class Converted(NamedTuple):
    """One source record, converted."""

    record: Record
    context: Context
    """The context for the next record of the same file."""
    account: Account | None = None
    """Set when it was asked for; adds up to the raw record's ``size``."""
    unknown_members: int = 0
    """How many members the dialect does not describe (they are in an ``unknown`` part)."""


@runtime_checkable
class Dialect(Protocol):
    """Whose schema the records are read as. Pure: no I/O, no clock, no state of its own."""

    @property
    def name(self) -> str:
        """Name and version, ``claude-code/1``."""

    def identify(self, source: Source, raws: Sequence[RawRecord]) -> Identity | None:
        """
        Return which session *source* belongs to, from its first records; None: not yet told.

        Asked only while `Source.is_identified` is false.
        """

    def convert(
        self, raw: RawRecord, source: Source, context: Context, *, audit: bool = False
    ) -> Converted:
        """
        Return *raw* (whose ``data`` is not None) as a record.

        Never raises on content: what it cannot describe is an ``unknown`` part. The same
        bytes and context give the same result. With *audit*, `Converted.account` is set.
        """


@runtime_checkable
class Adapter(Protocol):
    """How the records of one runtime are acquired on this machine."""

    @property
    def name(self) -> str:
        """``claude-code-local``."""

    @property
    def version(self) -> str:
        """The contract version, ``0.1.0``; a change seals open files."""

    @property
    def title(self) -> str:
        """What a person calls the agent: ``Claude Code``."""

    @property
    def dialect(self) -> Dialect:
        """The dialect of its sources."""

    def roots(self, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """
        Return where the agent keeps its sessions: its defaults and what *environ* names.

        Whether they exist does not matter; those that do not are waited for.
        """

    def roots_at(self, path: Path) -> Sequence[Path]:
        """Return the roots that a folder given by a person holds, is, or lies in; may read folders."""

    def locate(self, root: Path, path: Path) -> Source | None:
        """
        Return the source that *path* (below *root*) is, or None when it is none.

        Takes constant time and touches no file: one event costs the same with ten sources
        or a hundred thousand. ``src`` is relative to *root*, without a label.
        """
