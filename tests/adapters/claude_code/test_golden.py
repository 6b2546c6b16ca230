"""The golden cases: what the adapter makes of whole sessions, to the byte."""

from pathlib import Path

import pytest

from collectord.sessiondata import decode_record, record_problems
from collectord_adapters.claude_code import ADAPTER
from tests.golden.regenerate import expected_of

CASES = sorted(
    path
    for path in (Path(__file__).parents[2] / "golden" / "claude_code").iterdir()
    if path.is_dir()
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_source_becomes_what_was_read_and_agreed(case: Path) -> None:
    found = expected_of(ADAPTER, case)
    expected = {
        path.relative_to(case / "expected").as_posix(): path.read_bytes()
        for path in (case / "expected").rglob("*.sd")
    }

    assert found.keys() == expected.keys()
    for src, lines in expected.items():
        assert found[src].splitlines() == lines.splitlines(), src


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_golden_record_is_valid(case: Path) -> None:
    lines = [
        line
        for path in (case / "expected").rglob("*.sd")
        for line in path.read_bytes().splitlines()
    ]

    assert lines
    for line in lines:
        assert record_problems(decode_record(line)) == []


def test_what_the_real_program_wrote_has_no_unknown_member() -> None:
    case = next(case for case in CASES if case.name.startswith("client-"))

    for lines in expected_of(ADAPTER, case).values():
        for line in lines.splitlines():
            assert [part.text for part in decode_record(line).parts if part.k == "unknown"] == []
