"""Killed at any step that changes the disk, the next process lands the rest, each once."""

import shutil
from pathlib import Path

import pytest

from collectord.pipeline import collect_once
from collectord.sessiondata import encode
from tests.crash import killed_at
from tests.landed import check_numbers, leftovers, places_of, records_of
from tests.workbench import Workbench, lines


def live(bench: Workbench, *, gather: bool = False) -> None:
    """One process that collects while two sources and a document grow, and is stopped cleanly."""
    with bench.process(gather=gather) as assembly:
        collect_once(assembly)
        collector = assembly.collector
        for step in range(3):
            bench.append("s1.jsonl", lines(3 * step + 3, 3 * step + 5, width=1200))
            bench.append("s2.jsonl", lines(step + 2, step + 2) + b"\n" + b'{"half')
            bench.append("s2.jsonl", b'":1}\n')
            for name in ("s1.jsonl", "s2.jsonl", "s1.doc.json"):
                source = assembly.roots.locate(bench.sources / name)
                assert source is not None
                collector.visit(source)
            collector.cuts.commit()
        assert list(collector.seal_all()) == []
        collector.cuts.commit()


def begin(tmp: Path) -> Workbench:
    bench = Workbench(tmp, max_file_bytes=4096)
    bench.write("s1.jsonl", lines(1, 2))
    bench.write("s2.jsonl", lines(1, 1))
    bench.write("s1.doc.json", b'{"a":1}')
    return bench


def steps_of_one_life(tmp: Path) -> int:
    bench = begin(tmp / "count")
    with killed_at(1 << 30, after=False) as killer:
        live(bench)
    assert not killer.dead
    return killer.count


def check(bench: Workbench) -> None:
    bench.collect()
    wanted = {}
    for name in ("s1.jsonl", "s2.jsonl"):
        data = (bench.sources / name).read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        wanted[name] = [
            number for number, line in enumerate(whole.split(b"\n")[:-1], 1) if line.strip()
        ]
    for name, ords in wanted.items():
        assert [place.ord for place in places_of(bench.root, name)] == ords
    assert len(places_of(bench.root, "s1.doc.json")) == 1
    check_numbers(bench.root)
    assert leftovers(bench.root) == []
    again = bench.collect()
    assert (again.records, again.failures) == (0, [])
    assert all(line.endswith(b"\n") for line in map(encode, records_of(bench.root)))


@pytest.mark.parametrize("gather", [False, True], ids=["live", "gathered"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_any_step_nothing_is_lost_or_twice(
    quick_tmp: Path, after: bool, gather: bool
) -> None:
    total = steps_of_one_life(quick_tmp)
    assert total > 60
    for at in range(1, total + 1):
        bench = begin(quick_tmp / "life")
        with killed_at(at, after=after) as killer:
            live(bench, gather=gather)
        assert killer.dead, at
        if at % 3 == 0:
            bench.forget_state()
        check(bench)
        shutil.rmtree(quick_tmp / "life")


@pytest.mark.parametrize("at", range(1, 40, 3))
def test_killed_in_recovery_the_next_recovery_goes_on(tmp_path: Path, at: int) -> None:
    bench = begin(tmp_path)
    with killed_at(45, after=True):
        live(bench)
    for _ in range(3):
        with killed_at(at, after=at % 2 == 0):
            bench.collect()
    check(bench)
