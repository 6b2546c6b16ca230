"""
What an audit knows of one source, and the sums over many.

Each byte of a source is in exactly one of seven sums, or pending (after the last line
ending); so they add up to its size, and where they do not, something is unaccounted for.

Source: docs/format.md, "Nothing disappears silently".
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from collectord.adapter import Account
from collectord.audit.finding import AuditFinding, AuditKind

__all__ = ["SourceAudit", "Sums"]

_MOST: Final = 1000
"""How many findings of one source are kept; the rest is counted."""


@dataclass(slots=True)
class Sums:
    """Where the bytes of one or many sources are."""

    account: Account = field(default_factory=Account)
    pending: int = 0
    """Bytes after the last line ending: no record yet."""
    size: int = 0
    """What they have to add up to."""

    @property
    def difference(self) -> int:
        """Bytes that are in no sum (or, below 0, in several); 0: they add up."""
        return self.size - self.pending - self.account.total

    def add(self, other: "Sums") -> None:
        """Take *other* in."""
        self.account = self.account.plus(other.account)
        self.pending += other.pending
        self.size += other.size


@dataclass(slots=True)
class SourceAudit:
    """One source against what landed of it."""

    adapter: str
    title: str
    """What a person calls the agent."""
    src: str
    kind: str
    path: Path
    session: str = ""
    records: int = 0
    """Records in the source, whole lines that are not blank."""
    landed: int = 0
    """How many of them are in a landed record."""
    compared: int = 0
    """How many of those were converted again and compared."""
    sums: Sums = field(default_factory=Sums)
    findings: list[AuditFinding] = field(default_factory=list)
    unlisted: int = 0
    """Further faults, beyond those that ``findings`` holds."""

    @property
    def faults(self) -> int:
        """How many findings there are to act on."""
        return sum(found.is_fault for found in self.findings) + self.unlisted

    def find(self, kind: AuditKind, text: str, *, ord: int = 0, path: Path | None = None) -> None:
        """Note one finding."""
        if len(self.findings) >= _MOST:
            self.unlisted += 1
            return
        self.findings.append(AuditFinding(kind, path or self.path, text, ord))

    def note(self, kind: AuditKind, ords: "Ords", text: str) -> None:
        """Note what holds for *ords*, in one sentence with their number; nothing for none."""
        if ords.count:
            many = f"{ords.count:,} {'record' if ords.count == 1 else 'records'}"
            self.findings.append(
                AuditFinding(kind, self.path, f"{many} {ords}: {text}", ords.first, ords.count)
            )


@dataclass(slots=True)
class Ords:
    """Some records of a source: how many, and between which."""

    first: int = 0
    last: int = 0
    count: int = 0

    def add(self, ord_: int) -> None:
        """Take one in."""
        self.first = min(self.first or ord_, ord_)
        self.last = max(self.last, ord_)
        self.count += 1

    def take(self, ords: Iterable[int]) -> None:
        """Take several in."""
        for each in ords:
            self.add(each)

    def __str__(self) -> str:
        return f"({self.first})" if self.first == self.last else f"({self.first} to {self.last})"
