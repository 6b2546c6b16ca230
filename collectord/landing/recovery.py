"""
Make a session's folder whole again, before any number of it is taken.

1. Every folder is synced, so that the names seen now are the names that stay.
2. A read-only open file was being sealed, and may have been seen as `.sd`: its sealing
   is finished, nothing is cut or appended.
3. A writable open file is read whole and cut before the first line that it cannot
   prove: one that is not strict JSON with ``ord``, ``off``, ``sha``, ``bytes`` and
   ``parts``, whose ``ord`` does not rise, or that differs from a fresh conversion of a
   source record whose ``sha`` still matches. It goes on under its number.
4. One without a whole header holds nothing: it is unlinked, and its number is free.

Run again after a crash in the middle, it does the same.

Source: docs/format.md, "Exactly once".
"""

import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Protocol

import orjson

from collectord.adapter import NO_CONTEXT, Context
from collectord.landing.chain import Landed, chain, read_header
from collectord.landing.durable import fsync_folder
from collectord.landing.openfile import COPY_SUFFIX, OpenFile, finish_seal, publish
from collectord.landing.root import LandedName, LandingRoot
from collectord.sessiondata import Header
from collectord.sources import Anchor

__all__ = ["Recovered", "Testimony", "Witness", "recover_session"]

_PARSED_BYTES: Final = 256 << 20
"""A longer line that no source can vouch for is judged by its first and last bytes."""


class Testimony(Protocol):
    """A source asked, record by record in order, how its records are converted today."""

    @property
    def context(self) -> Context:
        """What the records told so far have stated."""

    def line(self, anchor: Anchor) -> Iterable[bytes] | None:
        """Return the landed line for a source record; None where its bytes are not there."""

    def close(self) -> None:
        """Give back what was opened."""


class Witness(Protocol):
    """Finds the source of an open file."""

    def __call__(self, header: Header) -> Testimony | None:
        """Return its testimony; None when the source, adapter or dialect is not there as it was."""


class Recovered(NamedTuple):
    """One writable open file that goes on."""

    file: OpenFile
    context: Context
    proven: bool
    """Whether every record was proven against its source, so that ``context`` can be trusted."""
    cut_bytes: int


def recover_session(root: LandingRoot, folder: Path, witness: Witness) -> list[Recovered]:
    """
    Recover the session in *folder* and return its open files, oldest first.

    Raises:
        LandedFileDiffers: A number has two contents; the session must not be written to.
        OSError: A step failed; nothing was lost, and it can be run again.
    """
    folders = LandingRoot.folders(folder)
    if folders:
        fsync_folder(root.path)
    for each in folders:
        fsync_folder(each)
        for leftover in each.glob(f"*{COPY_SUFFIX}"):
            if leftover.name.endswith(f".sd.open{COPY_SUFFIX}"):
                leftover.unlink()
    recovered: list[Recovered] = []
    for name in LandingRoot.files(folder):
        if not name.is_open:
            continue
        if not name.path.stat().st_mode & stat.S_IWUSR:
            finish_seal(name.path, root.modes)
        elif name.sealed_path.exists():
            publish(name.path)  # equal bytes: unlinks the open name; else it raises
        elif (one := _recover_open(root, name, witness)) is not None:
            recovered.append(one)
    return recovered


def _recover_open(root: LandingRoot, name: LandedName, witness: Witness) -> Recovered | None:
    header = read_header(name.path)
    if header is None or header.seq != name.seq:
        name.path.unlink()
        fsync_folder(name.path.parent)
        return None
    testimony = witness(header)
    try:
        keep, records, proven = _proven_part(name.path, testimony)
        context = testimony.context if testimony is not None and proven else NO_CONTEXT
    finally:
        if testimony is not None:
            testimony.close()
    size = name.path.stat().st_size
    file = OpenFile.resume(name.path, header, root, keep=keep, records=records)
    return Recovered(file, context, proven, size - keep)


def _proven_part(path: Path, testimony: Testimony | None) -> tuple[int, int, bool]:
    """Return (bytes to keep, records in them, whether the source vouched for each)."""
    with path.open("rb") as stream:
        keep = len(stream.readline())
        records = 0
        highest = 0
        proven = testimony is not None
        for landed in chain(path):
            anchor = landed.anchor
            if anchor is None or anchor.ord <= highest:
                break
            fresh = testimony.line(anchor) if testimony is not None and proven else None
            if fresh is None:
                # A record of a changed source can only be judged by itself, and so can
                # those after it: what was stated before them is not known.
                proven = False
                if not _is_whole_record(stream, landed):
                    break
            elif not _equals(stream, landed, fresh):
                break
            highest = anchor.ord
            records += 1
            keep = landed.stop
    return keep, records, proven


def _is_whole_record(stream: BinaryIO, landed: Landed) -> bool:
    size = landed.stop - landed.start
    if size > _PARSED_BYTES:
        stream.seek(landed.stop - 2)
        return stream.read(2) == b"}\n"
    stream.seek(landed.start)
    try:
        parsed = orjson.loads(stream.read(size))
    except orjson.JSONDecodeError:
        return False
    return isinstance(parsed, dict) and all(
        key in parsed for key in ("ord", "sha", "bytes", "parts")
    )


def _equals(stream: BinaryIO, landed: Landed, fresh: Iterable[bytes]) -> bool:
    stream.seek(landed.start)
    left = landed.stop - landed.start
    for piece in fresh:
        if len(piece) > left or stream.read(len(piece)) != piece:
            return False
        left -= len(piece)
    return left == 0
