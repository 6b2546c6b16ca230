"""The session of a child's file at a project's top is written inside."""

import pytest

from collectord.adapter import Identity
from collectord_adapters.claude_code import ADAPTER
from tests.adapters.claude_code.lines import raw_of, source_of

OPEN = source_of(stream="1a2b3c4d")._replace(session="")


@pytest.mark.parametrize(
    ("lines", "session"),
    [
        ([b'{"type":"user","sessionId":"s"}'], "s"),
        ([b'{"type":"user","session_id":"s"}'], "s"),
        ([b'{"n":1}', b"{cut", b'{"sessionId":5}', b'{"sessionId":""}', b'{"sessionId":"s"}'], "s"),
        ([b'{"sessionId":"s"}', b'{"sessionId":"t"}'], "s"),
        ([b'{"sessionId":".."}', b'{"sessionId":"' + b"x" * 201 + b'"}'], None),
        ([b'{"message":{"sessionId":"s"}}'], None),
        ([b"\xff"], None),
        ([], None),
    ],
)
def test_the_first_record_that_names_a_session_says_it(
    lines: list[bytes], session: str | None
) -> None:
    found = ADAPTER.dialect.identify(OPEN, [raw_of(line) for line in lines])

    assert found == (None if session is None else Identity(session, "1a2b3c4d", ""))
