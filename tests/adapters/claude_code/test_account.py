"""Where each byte of a source went: seven sums that add up to its size."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collectord.adapter import NO_CONTEXT, Account, Context
from collectord.sources import BOM
from collectord_adapters.claude_code import ADAPTER
from tests.adapters.claude_code.lines import SESSION
from tests.golden.regenerate import raws_of, sources_of

GOLDEN = Path(__file__).parents[2] / "golden" / "claude_code"

LINES: list[tuple[bytes, Account]] = [
    (b'{"type":"mode","n":1}', Account(part=21)),
    (b' {"type": "mode"} ', Account(part=15, syntax=3)),
    (b'{"message":{}}', Account(trailing=12, syntax=2)),
    (b'{"message":{"content":"x"}}', Account(part=10 + 13, syntax=4)),
    (b'{"message":{"content":[]}}', Account(part=10, trailing=12, syntax=4)),
    (
        b'{"uuid":"u","sessionId":"%s","cwd":"/","new":1,"message":{"content":"x"}}'
        % SESSION.encode(),
        Account(part=23, role=10, header=50, trailing=9, unknown=7, syntax=8),
    ),
    (
        b'{"message":{"content":[{"type":"thinking","thinking":"","signature":"s"}]}}',
        Account(part=10 + 10 + 17 + 13, dropped=15, syntax=10),
    ),
    (
        b'{"message":{"content":[{"type":"fallback"}, 5]}}',
        Account(part=10 + 10, unknown=19 + 1, syntax=8),
    ),
    (
        b'{"attachment":{"type":"x","text":"t"}}',
        Account(part=13 + 10, trailing=10, syntax=5),
    ),
    (b'{"attachment":{"n":[1,2]}}', Account(part=24, syntax=2)),
    (
        b'{"message":{"usage":{"input_tokens":1,"speed":2,"output_tokens":null}}}',
        Account(part=10 + 8, role=16 + 20, trailing=9, syntax=8),
    ),
    (b'{"uuid":"a","uuid":"b","message":{"content":"x"}}', Account(23, 10, unknown=10, syntax=6)),
    (b"{cut", Account(unknown=4)),
]


@pytest.mark.parametrize(("line", "account"), LINES)
def test_each_member_is_given_to_its_place(
    convert: Callable[..., Any], line: bytes, account: Account
) -> None:
    found = convert(line, audit=True).account

    assert found == account
    assert found.total == len(line)


def test_a_byte_order_mark_is_syntax(convert: Callable[..., Any]) -> None:
    found = convert(BOM + b'{"n":1}', audit=True, off=0).account

    assert found == Account(part=7, syntax=3)


CONTAINERS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]')


def opened_punctuation(line: bytes) -> int:
    """
    Count the punctuation of the containers that a message record is taken apart into.

    Counted by path, with no knowledge of the converter: the record, ``message``, its
    ``content`` and each block in it, ``usage``, and a base64 ``source``.
    """
    opened = re.compile(r"(?:message(?:\.usage|\.content(?:\.\d+(?:\.source)?)?)?)?")
    path: list[str | int] = []
    kinds: list[bytes] = []
    key = ""
    count = 0
    at = 0
    while at < len(line):
        if line[at : at + 1] == b'"':
            matched = CONTAINERS.match(line, at)
            assert matched is not None
            if line[matched.end() : matched.end() + 1] == b":" and kinds[-1] == b"{":
                key = matched[0][1:-1].decode()
            at = matched.end()
            continue
        token = line[at : at + 1]
        if token in (b"{", b"["):
            if kinds:
                path.append(key if kinds[-1] == b"{" else path.pop())
            kinds.append(token)
            count += bool(opened.fullmatch(".".join(map(str, path))))
            if token == b"[":
                path.append(0)
        elif token in (b"}", b"]"):
            if token == b"]":
                path.pop()
            count += bool(opened.fullmatch(".".join(map(str, path))))
            kinds.pop()
            if kinds and kinds[-1] == b"{":
                path.pop()
        elif token == b"," and kinds:
            inside = path[:-1] if kinds[-1] == b"[" else path
            count += bool(opened.fullmatch(".".join(map(str, inside))))
            if kinds[-1] == b"[":
                path[-1] = int(path[-1]) + 1
        at += 1
    return count


def test_syntax_is_the_punctuation_counted_independently() -> None:
    counted = 0
    for source in sources_of(ADAPTER, GOLDEN / "client-2.1.197" / "projects"):
        for raw in raws_of(source):
            assert raw.data is not None
            if not re.search(rb'"type":"(?:user|assistant)"', raw.data):
                continue
            account = ADAPTER.dialect.convert(raw, source, NO_CONTEXT, audit=True).account
            assert account is not None
            assert account.syntax == opened_punctuation(raw.data), raw.data
            counted += 1
    assert counted > 40


def test_the_sums_add_up_and_asking_for_them_changes_nothing() -> None:
    for case in GOLDEN.iterdir():
        for source in sources_of(ADAPTER, case / "projects"):
            context: Context = NO_CONTEXT
            for raw in raws_of(source):
                audited = ADAPTER.dialect.convert(raw, source, context, audit=True)
                plain = ADAPTER.dialect.convert(raw, source, context)
                assert audited.account is not None
                assert audited.account.total == raw.size
                assert min(audited.account) >= 0
                assert (audited.record, audited.context) == (plain.record, plain.context)
                assert plain.account is None
                context = plain.context
