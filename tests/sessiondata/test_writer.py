"""The writer of whole files refuses what is not sd/1 and never writes over a file."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectord.errors import SessionDataError
from collectord.sessiondata import Header, Record, SdWriter, open_sd
from tests.sessiondata.strategies import header, headers, record, records


@given(headers, st.lists(records(), max_size=3, unique_by=lambda each: each.ord), st.booleans())
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, first: Header, found: list[Record], closed: bool
) -> None:
    found.sort(key=lambda each: str(each.ord).zfill(20))
    path = tmp_path_factory.mktemp("written") / "a.sd"
    with SdWriter(path, first, closing_line=closed) as writer:
        for each in found:
            writer.write(each)
    with open_sd(path) as sd:
        assert sd.header == first and [*sd] == found
        assert sd.check_digest() is (True if closed else None)


def test_an_invalid_header_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(SessionDataError, match=r"a\.sd:1: `kind` is 'diary'"):
        SdWriter(tmp_path / "a.sd", header(kind="diary"))
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "second", [record(1), record(2), record(5, from_="nobody"), record(5, parts=[])]
)
def test_an_invalid_record_is_refused_and_not_written(tmp_path: Path, second: Record) -> None:
    with SdWriter(tmp_path / "a.sd", header()) as writer:
        writer.write(record(2))
        with pytest.raises(SessionDataError, match=r"a\.sd:3: "):
            writer.write(second)
    with open_sd(tmp_path / "a.sd") as sd:
        assert [each.ord for each in sd] == [2]


def test_a_file_that_is_there_is_never_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a.sd"
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        SdWriter(path, header())
    assert path.read_bytes() == b"mine"


def test_a_file_given_up_has_no_closing_line(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match="stop"),
        SdWriter(tmp_path / "a.sd", header(), closing_line=True),
    ):
        raise RuntimeError("stop")
    with open_sd(tmp_path / "a.sd") as sd:
        assert not [*sd] and sd.end is None


def test_sessiondata_is_usable_alone() -> None:
    """Importing it loads none of the daemon's libraries, so that a reader stays quick."""
    code = (
        "import sys, collectord.sessiondata\n"
        "print(sorted({'anyio', 'watchdog', 'structlog', 'click', 'rich', 'platformdirs'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
