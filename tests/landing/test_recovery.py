"""What recovery keeps of an open file, whatever a crash left in it."""

import os
import stat
from pathlib import Path

import pytest

from collectord.landing import LandingRoot
from tests.landed import check_numbers, leftovers, places_of
from tests.workbench import Workbench, lines


def growing(bench: Workbench) -> Path:
    """Leave an open file behind, as a killed process does, and return its path."""
    bench.write("s.jsonl", lines(1, 5))
    with bench.process() as assembly:
        source = assembly.roots.locate(bench.sources / "s.jsonl")
        assert source is not None
        assembly.collector.visit(source)
    (path,) = bench.root.rglob("*.sd.open")
    return path


def test_every_prefix_of_an_open_file_is_recovered(quick_tmp: Path) -> None:
    whole = growing(Workbench(quick_tmp / "first")).read_bytes()
    edges = [end + step for end, byte in enumerate(whole) if byte == 10 for step in (0, 1, 2)]
    for size in sorted({*range(0, len(whole), 13), *edges} - {len(whole) + 1}):
        bench = Workbench(quick_tmp / str(size))
        path = growing(bench)
        os.truncate(path, size)
        bench.collect()
        assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5]
        check_numbers(bench.root)
        assert leftovers(bench.root) == []


@pytest.mark.parametrize(
    "garbage",
    [
        b"\0" * 700,
        b"{}\n",
        b'{"ord":9}\n',
        b"\n",
        b'{"ord":3,"off":0,"sha":"000000000000","bytes":1,"parts":[]}\n',
    ],
)
def test_what_the_source_does_not_prove_is_cut(tmp_path: Path, garbage: bytes) -> None:
    bench = Workbench(tmp_path)
    path = growing(bench)
    with path.open("ab") as stream:
        stream.write(garbage)
    bench.append("s.jsonl", lines(6, 6))
    bench.collect()
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5, 6]
    check_numbers(bench.root)


def test_a_zeroed_page_in_the_middle_is_collected_again(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    path = growing(bench)
    data = bytearray(path.read_bytes())
    middle = data.index(b'"ord":3') + 40
    data[middle : middle + 30] = bytes(30)
    path.write_bytes(bytes(data))
    bench.collect()
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5]


def test_a_line_that_says_something_else_than_its_source_is_cut(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    path = growing(bench)
    path.write_bytes(path.read_bytes().replace(b'{"n":4,', b'{"n":7,'))
    bench.collect()
    assert b'{"n":7,' not in b"".join(p.read_bytes() for p in bench.root.rglob("*.sd"))
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5]


def test_records_whose_source_has_changed_are_kept(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    growing(bench)
    bench.write("s.jsonl", lines(11, 12))
    bench.collect()
    places = places_of(bench.root)
    assert [place.ord for place in places] == [1, 2, 3, 4, 5, 1, 2]
    assert len({place.sha for place in places}) == 7


def test_an_open_file_without_a_whole_header_holds_nothing(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    path = growing(bench)
    path.write_bytes(b'{"h":1,"sch')
    bench.collect()
    assert [
        name.seq for name in LandingRoot.files(next(iter(LandingRoot(bench.root).sessions())))
    ] == [1]
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5]


def test_a_read_only_open_file_is_sealed_as_it_is(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    path = growing(bench)
    path.chmod(0o400)
    before = path.read_bytes()
    bench.append("s.jsonl", lines(6, 6))
    bench.collect()
    assert path.with_suffix("").read_bytes() == before
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5, 6]
    check_numbers(bench.root)


def test_both_names_with_the_same_bytes_become_one(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    path = growing(bench)
    path.chmod(0o400)
    os.link(path, path.with_suffix(""))
    bench.collect()
    assert leftovers(bench.root) == []
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5]


def test_another_file_under_the_sealed_name_stops_the_session(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    path = growing(bench)
    path.with_suffix("").write_bytes(b"somebody else's\n")
    path.chmod(0o400)
    bench.write("other.jsonl", lines(1, 2))
    summary = bench.collect()
    assert any("nothing was overwritten" in each.reason for each in summary.failures)
    assert path.with_suffix("").read_bytes() == b"somebody else's\n"
    path.with_suffix("").unlink()
    assert [place.ord for place in places_of(bench.root, "other.jsonl")] == [1, 2]


def test_sealed_files_are_read_only_and_folders_private(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    old = os.umask(0)
    try:
        growing(bench)
        bench.collect()
    finally:
        os.umask(old)
    for path in bench.root.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.is_dir():
            assert mode == 0o700, path
        elif path.suffix == ".sd":
            assert mode == 0o400, path
        else:
            assert mode == 0o600, path


def test_what_a_power_cut_took_from_an_open_file_is_collected_again(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.write("s.jsonl", lines(1, 5))
    with bench.process() as assembly:
        source = assembly.roots.locate(bench.sources / "s.jsonl")
        assert source is not None
        assembly.collector.visit(source)
        assembly.collector.cuts.commit()  # the store knows the source as read to its end
    (path,) = bench.root.rglob("*.sd.open")
    os.truncate(path, len(path.read_bytes().split(b"\n")[0]) + 1)
    bench.collect()
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5]
    check_numbers(bench.root)
