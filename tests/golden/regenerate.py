"""
Write the expected records of every golden case anew: ``python tests/golden/regenerate.py``.

A case is a folder below ``tests/golden/<adapter>/`` with ``projects/`` (what a runtime
wrote) and ``expected/`` (what its adapter makes of it, a file of records a source). The
difference is meant to be read before it is committed.

``client-*`` cases were written by the real program against a scripted model: every string
above 200 characters is a marker, because the long ones are the vendor's, and its paths
are those of nobody. ``hand-written`` holds what the program does not write on demand.
"""

import os
import shutil
import sys
from pathlib import Path

from collectord.adapter import NO_CONTEXT, Adapter, Context, Reader, Source
from collectord.sessiondata import encode
from collectord.sources import Cursor, RawRecord, read_document, read_lines
from collectord_adapters.claude_code import ADAPTER

GOLDEN = Path(__file__).parent
CASES = {"claude_code": ADAPTER}


def sources_of(adapter: Adapter, root: Path) -> list[Source]:
    """Return every source below *root*, by name, their sessions known."""
    found = []
    for path in sorted(root.rglob("*")):
        source = adapter.locate(root, path) if path.is_file() else None
        if source is None:
            continue
        if not source.is_identified:
            identity = adapter.dialect.identify(source, raws_of(source))
            source = source if identity is None else source.identified(identity)
        found.append(source)
    return found


def raws_of(source: Source) -> list[RawRecord]:
    """Return every record of *source*."""
    fd = os.open(source.path, os.O_RDONLY)
    try:
        if source.reader == Reader.DOCUMENT:
            version = read_document(fd, final=True)
            return [] if version.raw is None else [version.raw]
        raws: list[RawRecord] = []
        tail = read_lines(fd, Cursor(), final=True)
        while True:
            raws += tail.raws
            if not tail.more:
                return raws
            tail = read_lines(fd, tail.cursor, final=True)
    finally:
        os.close(fd)


def records_of(adapter: Adapter, source: Source) -> bytes:
    """Return the lines that *source* becomes."""
    lines = []
    context: Context = NO_CONTEXT
    for raw in raws_of(source):
        converted = adapter.dialect.convert(raw, source, context)
        context = converted.context
        lines.append(encode(converted.record))
    return b"".join(lines)


def expected_of(adapter: Adapter, case: Path) -> dict[str, bytes]:
    """Return what ``expected/`` of *case* should hold, by path below it."""
    return {
        f"{source.src}.sd": records_of(adapter, source)
        for source in sources_of(adapter, case / "projects")
    }


def main() -> int:
    """Rewrite every case."""
    for name, adapter in CASES.items():
        for case in sorted(path for path in (GOLDEN / name).iterdir() if path.is_dir()):
            shutil.rmtree(case / "expected", ignore_errors=True)
            for src, lines in expected_of(adapter, case).items():
                target = case / "expected" / src
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
