"""
The packaged sample: one session of a coding agent, invented for this, as it is written.

A line of ``sample.jsonl`` is one step: ``to`` (the file, below a home folder), ``wait``
(seconds before it), ``torn`` (whether the agent stops in the middle of the line for a
moment, as real ones do), and ``line``, the record. The value ``now`` of a
``timestamp`` becomes the time of writing.
"""

from datetime import datetime
from importlib import resources
from typing import Final, NamedTuple

import msgspec

__all__ = ["Step", "steps"]

_NOW: Final = b'"timestamp":"now"'


class Step(NamedTuple):
    """One line, or one whole file, that the agent writes."""

    to: str
    """Below the home folder, with forward slashes."""
    wait_s: float
    is_torn: bool
    line: bytes
    """Without its newline."""

    @property
    def is_document(self) -> bool:
        """Whether the file is written whole, and is no list of lines."""
        return not self.to.endswith(".jsonl")

    def written_at(self, moment: datetime) -> bytes:
        """Return the line as an agent writes it at *moment* (UTC)."""
        stamp = f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
        return self.line.replace(_NOW, b'"timestamp":"%b"' % stamp.encode())


class _Entry(msgspec.Struct):
    to: str
    wait: float
    line: msgspec.Raw
    torn: bool = False


def steps() -> list[Step]:
    """Return the sample, step by step."""
    text = resources.files(__package__).joinpath("sample.jsonl").read_bytes()
    found = []
    for line in text.splitlines():
        entry = msgspec.json.decode(line, type=_Entry)
        found.append(Step(entry.to, entry.wait, entry.torn, bytes(entry.line)))
    return found
