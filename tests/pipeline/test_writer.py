"""What is handed to the writer lands in order, or the disk is asked again."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from collectord.pipeline import Assembly
from collectord.pipeline.writer import MAX_BYTES, Writer
from tests.landed import check_numbers, leftovers, places_of
from tests.workbench import Workbench, lines


def visit(assembly: Assembly, bench: Workbench, name: str) -> None:
    source = assembly.roots.locate(bench.sources / name)
    assert source is not None
    assembly.collector.visit(source, final=True)  # a document is not made to wait


@pytest.mark.parametrize("gather", [False, True], ids=["live", "gathered"])
@pytest.mark.parametrize("call", ["write", "fsync", "fchmod", "open", "mkdir"])
@pytest.mark.parametrize("at", [1, 2, 3, 4, 5, 6])
def test_a_step_that_fails_is_derived_from_the_disk_in_the_same_process(
    quick_tmp: Path, monkeypatch: pytest.MonkeyPatch, call: str, at: int, gather: bool
) -> None:
    bench = Workbench(quick_tmp, max_file_bytes=4096)
    bench.write("a.jsonl", lines(1, 30, width=300))
    bench.write("a.doc.json", b'{"x":1}')
    bench.write("b.jsonl", lines(1, 2))
    real = getattr(os, call)
    count = 0

    def once(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        if call != "open" or args[1] & os.O_CREAT:
            count += 1
            if count == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args, **kwargs)

    with bench.process(gather=gather) as assembly:
        cuts = assembly.collector.cuts
        with monkeypatch.context() as patch:
            patch.setattr(os, call, once)
            for name in ("a.jsonl", "b.jsonl", "a.doc.json"):
                visit(assembly, bench, name)
            cuts.commit()
        failed = cuts.take_failures()
        assert count >= at or not failed
        again = {source.path.name for one in failed for source in one.sources}
        if failed:
            assert again
        bench.append("b.jsonl", lines(3, 3))
        for error in assembly.collector.recover_open():
            raise error
        for name in sorted(again | {"b.jsonl"}):
            visit(assembly, bench, name)
        assert list(assembly.collector.seal_all()) == []
        cuts.seal_orphans()
        cuts.commit()
        assert cuts.take_failures() == []
    assert [place.ord for place in places_of(bench.root, "a.jsonl")] == list(range(1, 31))
    assert [place.ord for place in places_of(bench.root, "b.jsonl")] == [1, 2, 3]
    assert len(places_of(bench.root, "a.doc.json")) == 1
    check_numbers(bench.root)
    assert leftovers(bench.root) == []
    assert bench.collect().records == 0


def test_what_waits_to_be_written_is_bounded(
    quick_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(quick_tmp)
    for number in range(40):
        bench.write(f"s{number}.jsonl", lines(1, 1000, width=1000))
    most = 0
    done = Writer.done

    def watched(self: Writer, *args: Any) -> Any:
        nonlocal most
        yield from done(self, *args)
        most = max(most, self._bytes)

    monkeypatch.setattr(Writer, "done", watched)
    assert bench.collect().records == 40_000
    assert 0 < most <= MAX_BYTES + (4 << 20)
