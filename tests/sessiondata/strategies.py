"""
What the tests of sd/1 are made of: JSON texts as runtimes write them, and valid records.

JSON is generated as text, not as Python values: repeated keys, escapes, white space and
the digits of a number are what is easily lost, and a value cannot hold them.
"""

from collections.abc import Callable
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import Raw

from collectord.sessiondata import FLAGS, TRIGGERS, Dropped, From, Header, Kind, Part, Record, Usage
from collectord.sessiondata.model import State

PIECES = [b"a", b"key", b" ", b":", b"{", b"]", b",", b"\\n", b'\\"', b"\\\\", b"\\u0041",
          b"\\ud83d\\ude00", "é".encode(), "😀".encode(), "\u2028".encode()]  # fmt: skip
NUMBERS = [b"0", b"-0", b"1.10", b"1e5", b"-1.5E+3", b"123456789012345678901234567890", b"7"]
WORDS = [b"true", b"false", b"null"]
GAPS = [b"", b"", b" ", b"\t", b"\r\n"]

json_strings = st.lists(st.sampled_from(PIECES), max_size=4).map(
    lambda pieces: b'"' + b"".join(pieces) + b'"'
)


class Written(NamedTuple):
    """One member of a generated object, with the white space around its tokens."""

    gaps: tuple[bytes, bytes, bytes, bytes]
    key: bytes
    value: bytes

    @property
    def text(self) -> bytes:
        """The member as it stands in the object."""
        before, after_key, before_value, after = self.gaps
        return before + self.key + after_key + b":" + before_value + self.value + after


def members_of(
    values: SearchStrategy[bytes], gap: SearchStrategy[bytes]
) -> SearchStrategy[Written]:
    """Return members with *values*; keys come from few pieces, so they often repeat."""
    gaps = st.just((b"", b"", b"", b"")) | st.tuples(gap, gap, gap, gap)
    return st.builds(Written, gaps, json_strings, values)


def json_texts(gap: SearchStrategy[bytes]) -> SearchStrategy[bytes]:
    """Return any JSON value as text, with *gap* between its tokens."""

    def joined(opening: bytes, closing: bytes) -> Callable[[list[bytes]], bytes]:
        return lambda items: opening + b",".join(items) + closing

    def larger(inner: SearchStrategy[bytes]) -> SearchStrategy[bytes]:
        padded = st.builds(lambda before, value, after: before + value + after, gap, inner, gap)
        objects = st.lists(members_of(inner, gap).map(lambda m: m.text), max_size=4)
        return st.lists(padded, max_size=4).map(joined(b"[", b"]")) | objects.map(
            joined(b"{", b"}")
        )

    return st.recursive(json_strings | st.sampled_from(NUMBERS + WORDS), larger, max_leaves=8)


compact_json = json_texts(st.just(b""))
spaced_json = json_texts(st.sampled_from(GAPS))

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.text('abc-é/. "\\\n', max_size=6)
sizes = st.integers(0, 1 << 40)
tokens = st.none() | st.integers(0, 1 << 40) | st.floats(0, 1e9)


@st.composite
def parts(draw: st.DrawFn) -> Part:
    """Return a valid part of any kind."""
    kind = draw(
        st.sampled_from(["text", "reasoning", "call", "result", "media", "data", "unknown"])
    )
    part = Part(k=kind, state=draw(st.sampled_from([*State])), bytes=draw(sizes), text=draw(texts))
    if kind not in ("text", "reasoning") and draw(st.booleans()):
        data = draw(json_strings if kind == "unknown" else compact_json)
        part = Part(k=kind, state=part.state, bytes=part.bytes, text=part.text, data=Raw(data))
    if kind == "call":
        part.id, part.name = draw(names), draw(names)
    if kind == "result":
        part.of, part.failed = draw(names), draw(st.none() | st.booleans())
    if kind == "media":
        part.media = draw(names)
    if kind == "unknown":
        part.encoding = draw(st.sampled_from(["", "base64"]))
    return part


usages = st.builds(Usage, tokens, tokens, tokens, tokens).filter(lambda usage: usage != Usage())


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Return a valid record."""
    record = Record(
        ord=draw(st.integers(0, 1 << 40)),
        sha=draw(st.text("0123456789abcdef", min_size=12, max_size=12)),
        bytes=draw(sizes),
        from_=draw(st.sampled_from([*From])),
        trigger=draw(st.sampled_from(["", *TRIGGERS])),
        flags=[flag for flag in FLAGS if draw(st.booleans())] if draw(st.booleans()) else [],
        usage=draw(st.none() | usages),
        parts=draw(st.lists(parts(), min_size=1, max_size=3)),
        dropped=draw(
            st.lists(st.builds(Dropped, texts.filter(bool), sizes, texts.filter(bool)), max_size=2)
        ),
    )
    if draw(st.booleans()):
        record.off = draw(sizes)
    for name in ("id", "parent", "call", "run", "continues", "tool", "child", "batch",
                 "started_by", "label", "time", "model"):  # fmt: skip
        setattr(record, name, draw(st.just("") | names))
    return record


headers = st.builds(
    Header,
    h=st.just(1),
    schema=st.just("sd/1"),
    seq=st.integers(1, 1 << 40),
    at=st.sampled_from(["2026-09-01T12:56:03Z", "2026-09-01T12:56:03.1818Z"]),
    kind=st.sampled_from([*Kind]).map(str),
    adapter=st.just("example-local/0.1.0"),
    dialect=st.just("example/1"),
    src=st.sampled_from(["a.jsonl", "é/a b.jsonl", "@two/..a/b..", "...", "a//b"]),
    session=names.filter(bool),
    stream=names,
    batch=names,
)


def header(**changes: object) -> Header:
    """Return a plain valid header with *changes*."""
    fields: dict[str, object] = {
        "h": 1, "schema": "sd/1", "seq": 1, "at": "2026-09-01T12:56:03Z", "kind": "transcript",
        "adapter": "example-local/0.1.0", "dialect": "example/1", "src": "a.jsonl", "session": "s",
        "stream": "main",
    }  # fmt: skip
    return Header(**(fields | changes))  # type: ignore[arg-type]


def record(ord_: int = 1, text: str = "hello", **changes: object) -> Record:
    """Return a plain valid record with *changes*."""
    fields: dict[str, object] = {
        "ord": ord_, "off": (ord_ - 1) * 20, "sha": "0123456789ab", "bytes": 19, "from_": "agent",
        "parts": [Part(k="text", text=text, state="available", bytes=len(text.encode()))],
    }  # fmt: skip
    return Record(**(fields | changes))  # type: ignore[arg-type]
