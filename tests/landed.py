"""What is in a landing root, as tests look at it."""

from pathlib import Path
from typing import NamedTuple

from collectord.landing import LandingRoot, read_header
from collectord.sessiondata import Record, open_sd


class Place(NamedTuple):
    """A landed record by where it stood in its source."""

    ord: int
    off: int
    sha: str


def records_of(root: Path, src: str = "") -> list[Record]:
    """Return every record (of one source) in order of session, seq and line."""
    found: list[Record] = []
    for folder in LandingRoot(root).sessions():
        for name in LandingRoot.files(folder):
            with open_sd(name.path) as sd:
                if not src or sd.header.src == src:
                    found += list(sd)
    return found


def places_of(root: Path, src: str = "") -> list[Place]:
    """Return the places of `records_of`."""
    return [
        Place(int(record.ord), int(record.off), record.sha)  # type: ignore[arg-type]
        for record in records_of(root, src)
    ]


def check_numbers(root: Path) -> None:
    """Assert that each session's numbers are 1 to n, in names and headers, each once."""
    for folder in LandingRoot(root).sessions():
        names = LandingRoot.files(folder)
        assert [name.seq for name in names] == list(range(1, len(names) + 1)), folder
        for name in names:
            header = read_header(name.path)
            assert header is not None
            assert header.seq == name.seq


def leftovers(root: Path) -> list[str]:
    """Return the names of files in the root that are neither sealed nor the root's own."""
    return sorted(
        path.name
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".sd" and ".collectord" not in path.parts
    )
