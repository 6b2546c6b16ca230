"""
A tiny runtime for tests: ``<session>.jsonl`` files, a line of any JSON each.

``<session>.doc.json`` is a document; ``open-*.jsonl`` states its session inside.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Raw

from collectord.adapter import (
    Context,
    Converted,
    Identity,
    Plugin,
    Reader,
    Source,
    verbatim,
)
from collectord.sessiondata import Kind, Part, Record, State
from collectord.sessiondata.rawjson import NotStrict, compact, members, string
from collectord.sources import RawRecord


class PlainDialect:
    name = "plain/1"

    def identify(self, source: Source, raws: Sequence[RawRecord]) -> Identity | None:
        for raw in raws:
            try:
                found = members(raw.data or b"") or {}
            except NotStrict:
                continue
            if "session" in found:
                return Identity(string(found["session"]), "main")
        return None

    def convert(
        self, raw: RawRecord, source: Source, context: Context, *, audit: bool = False
    ) -> Converted:
        assert raw.data is not None
        try:
            data = compact(raw.data)
            raw.data.decode()
        except (NotStrict, UnicodeDecodeError):
            return verbatim(raw, "not JSON", context, audit=audit)
        count = msgspec.json.decode(bytes(context.get("n", Raw(b"0"))), type=int) + 1
        parts = [Part(k="data", data=data, state=State.AVAILABLE, bytes=len(data))]
        # What was stated before in the same file shows in the record, as an environment does.
        record = Record(
            ord=raw.ord,
            off=raw.off,
            sha=raw.sha,
            bytes=raw.size,
            label=f"nth {count}",
            from_="runtime",
            parts=parts,
        )
        return Converted(record, {"n": Raw(str(count).encode())})


class PlainAdapter:
    name = "plain-local"
    version = "0.1.0"
    title = "Plain"
    dialect = PlainDialect()

    def __init__(self, root: Path) -> None:
        self.root = root

    def roots(self, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        return [self.root]

    def roots_at(self, path: Path) -> Sequence[Path]:
        return [path] if path.is_dir() else []

    def locate(self, root: Path, path: Path) -> Source | None:
        src = path.relative_to(root).as_posix()
        if path.name.endswith(".doc.json"):
            session = path.name.removesuffix(".doc.json")
            return Source(
                self.name, src, path, Kind.WORKFLOW_MANIFEST, Reader.DOCUMENT, session, "", "run"
            )
        if re.fullmatch(r"open-.*\.jsonl", path.name):
            return Source(self.name, src, path, Kind.TRANSCRIPT, Reader.LINES)
        if path.suffix == ".jsonl":
            return Source(self.name, src, path, Kind.TRANSCRIPT, Reader.LINES, path.stem, "main")
        return None


def plain_plugin(root: Path) -> Plugin:
    return Plugin("plain", PlainAdapter(root), "tests 0")
