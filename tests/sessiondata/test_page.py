"""The page that describes the format lists what the code has, in its order."""

import re
from pathlib import Path

import msgspec
import pytest

from collectord.sessiondata import FLAGS, Header, Kind, Part, PartKind, Record, State

PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text("utf-8")


def first_column(heading: str, table: int = 0) -> list[str]:
    """Return the names in the first column of a section's table."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    rows = tables[table].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.mark.parametrize(("heading", "struct"), [("Header", Header), ("Record", Record)])
def test_the_fields_of_a_line_are_listed_in_their_order(heading: str, struct: type) -> None:
    fields = [field.encode_name for field in msgspec.structs.fields(struct)]
    assert first_column(heading) == fields


def test_the_fields_of_a_part_are_listed() -> None:
    fields = [field.encode_name for field in msgspec.structs.fields(Part)]
    assert sorted(first_column("Part")) == sorted(fields)


def test_closed_sets_are_listed_whole() -> None:
    assert first_column("Header", 1) == [*Kind]
    assert first_column("Part", 1) == [*PartKind]
    assert ", ".join(f"`{flag}`" for flag in FLAGS) in PAGE
    assert ", ".join(f"`{state}`" for state in State) in PAGE
