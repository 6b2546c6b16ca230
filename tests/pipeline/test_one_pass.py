"""One pass: what it opens, what it does when the disk says no, what it reports."""

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from collectord.errors import ConfigError, NothingFound
from collectord.landing import OpenFile, openfile
from collectord.pipeline import assemble, onepass
from collectord.pipeline.roots import find_roots
from collectord.state import Store
from tests.landed import check_numbers, leftovers, places_of, records_of
from tests.plain import plain_plugin
from tests.workbench import Workbench, lines


def opened_below(folder: Path, patch: pytest.MonkeyPatch) -> list[str]:
    """Note every file below *folder* that is opened from now on."""
    found: list[str] = []
    real = os.open

    def noting(path: Any, *args: Any, **kwargs: Any) -> int:
        if os.fspath(path).startswith(os.fspath(folder)):
            found.append(os.fspath(path))
        return real(path, *args, **kwargs)

    patch.setattr(os, "open", noting)
    return found


def test_a_second_pass_opens_no_unchanged_source_and_is_quick(
    quick_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(quick_tmp)
    for number in range(5000):
        bench.write(f"p{number % 50}/s{number}.jsonl", lines(1, 1))
    assert bench.collect().records == 5000
    opened = opened_below(bench.sources, monkeypatch)
    started = time.monotonic()
    summary = bench.collect()
    took = time.monotonic() - started
    assert (summary.sources, summary.opened, summary.records) == (5000, 0, 0)
    assert opened == []
    assert took < 2.0
    bench.append("p1/s1.jsonl", lines(2, 2))
    assert bench.collect().records == 1
    assert [Path(path).name for path in opened] == ["s1.jsonl"]


def test_nothing_is_sealed_twice_or_left_open(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.write("a.jsonl", lines(1, 3))
    bench.write("a.doc.json", b'{"x":1}\n')
    bench.collect()
    before = {path: path.read_bytes() for path in bench.root.rglob("*.sd")}
    bench.append("a.jsonl", lines(4, 4))
    bench.collect()
    assert {path: path.read_bytes() for path in before} == before
    assert leftovers(bench.root) == []
    check_numbers(bench.root)


def test_files_are_sealed_at_their_size_and_each_states_its_context_anew(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, max_file_bytes=4096)
    bench.write("a.jsonl", lines(1, 40, width=300))
    bench.collect()
    sizes = [path.stat().st_size for path in sorted(bench.root.rglob("*.sd"))]
    assert len(sizes) > 3
    assert all(4096 <= size < 4096 + 800 for size in sizes[:-1])
    firsts = [record.label for record in records_of(bench.root)].count("nth 1")
    assert firsts == len(sizes)
    assert [place.ord for place in places_of(bench.root)] == list(range(1, 41))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize("call", ["write", "fsync", "mkdir"])
def test_when_the_disk_refuses_nothing_is_lost_or_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    bench = Workbench(tmp_path)
    bench.write("a.jsonl", lines(1, 30, width=200))
    bench.collect()
    bench.append("a.jsonl", lines(31, 60, width=200))
    bench.write("b.jsonl", lines(1, 5))
    real = getattr(os, call)
    count = 0

    def refuse(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        if count > 3:
            if call == "write":
                real(args[0], bytes(args[1])[:7])
            raise OSError(number, os.strerror(number))
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        summary = bench.collect()
    assert count <= 3 or summary.failures
    bench.collect()
    assert [place.ord for place in places_of(bench.root, "a.jsonl")] == list(range(1, 61))
    assert [place.ord for place in places_of(bench.root, "b.jsonl")] == list(range(1, 6))
    check_numbers(bench.root)
    assert leftovers(bench.root) == []


def test_a_sync_that_failed_is_not_repeated_on_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(tmp_path)
    bench.write("a.jsonl", lines(1, 3))
    synced: list[int] = []
    failed: list[int] = []

    def fsync(fd: int) -> None:
        inode = os.fstat(fd).st_ino
        assert inode not in failed
        synced.append(inode)
        if len(synced) == 2:  # the first one makes the header durable
            failed.append(inode)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(openfile, "fsync", fsync)
    assert bench.collect().failures == []
    assert failed
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3]
    assert next(iter(bench.root.rglob("*.sd"))).stat().st_ino not in failed


def test_an_unreadable_source_is_told_and_the_others_land(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(tmp_path)
    bench.write("a.jsonl", lines(1, 1))
    bench.write("b.jsonl", lines(1, 1))
    real = os.open

    def denied(path: Any, *args: Any, **kwargs: Any) -> int:
        if os.fspath(path).endswith("a.jsonl"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", denied)
        summary = bench.collect()
    assert [(each.src, each.reason) for each in summary.failures] == [
        ("a.jsonl", "Permission denied")
    ]
    assert bench.collect().failures == []
    assert len(places_of(bench.root)) == 2


def test_a_dialect_that_raises_costs_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(tmp_path)
    bench.write("a.jsonl", lines(1, 3))
    from tests.plain import PlainDialect

    real = PlainDialect.convert

    def convert(self: PlainDialect, raw: Any, *args: Any, **kwargs: Any) -> Any:
        if raw.ord == 2:
            raise KeyError("surprise")
        return real(self, raw, *args, **kwargs)

    monkeypatch.setattr(PlainDialect, "convert", convert)
    bench.collect()
    records = records_of(bench.root)
    assert [record.ord for record in records] == [1, 2, 3]
    assert records[1].parts[0].text == "plain/1 failed on it (KeyError)"


def test_pipes_and_folders_with_a_source_s_name_are_passed_over(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    os.mkfifo(bench.sources / "pipe.jsonl")
    (bench.sources / "folder.jsonl").mkdir()
    bench.write("a.jsonl", lines(1, 1))
    summary = bench.collect()
    assert (summary.sources, summary.failures) == (1, [])


def test_a_landing_root_inside_what_is_watched_is_refused(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.root = bench.sources / "landed"
    bench.config = Workbench(tmp_path).config
    surroundings = bench.surroundings()._replace(
        config=type(bench.config)(landing=type(bench.config.landing)(root=bench.sources / "landed"))
    )
    with pytest.raises(ConfigError, match="lie in one another"), assemble(surroundings):
        pass


def test_a_path_narrows_a_known_root_and_keeps_the_names(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.write("p/a.jsonl", lines(1, 1))
    bench.write("q/b.jsonl", lines(1, 1))
    narrowed = bench.surroundings()._replace(paths=(bench.sources / "p",))
    with assemble(narrowed) as assembly:
        from collectord.pipeline import collect_once

        assert collect_once(assembly).sources == 1
    assert [place.ord for place in places_of(bench.root, "p/a.jsonl")] == [1]
    assert bench.collect().records == 1


def test_a_path_outside_the_known_roots_is_a_labelled_root(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.write("a.jsonl", lines(1, 1))
    bench.collect()
    other = tmp_path / "backup"
    other.mkdir()
    (other / "a.jsonl").write_bytes(lines(1, 2))
    for _ in range(2):
        with assemble(bench.surroundings()._replace(paths=(other,))) as assembly:
            from collectord.pipeline import collect_once

            collect_once(assembly)
    sources = {
        path.read_bytes().split(b'"src":"')[1].split(b'"')[0] for path in bench.root.rglob("*.sd")
    }
    assert len(sources) == 2
    assert any(src.startswith(b"@backup-") for src in sources)
    assert len(places_of(bench.root)) == 3


def test_a_path_with_nothing_in_it_is_said(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.collect()
    with bench.process() as assembly, pytest.raises(NothingFound, match="no such file or folder"):
        find_roots(
            [plain_plugin(bench.sources)],
            bench.config,
            assembly.root,
            environ={},
            home=tmp_path,
            paths=[tmp_path / "nothing"],
        )


def test_the_store_hears_of_a_seal_only_when_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(tmp_path)
    for number in range(150):
        bench.write(f"s{number}.jsonl", lines(1, 1))
    seal, commit = OpenFile.seal, Store.commit
    told: list[int] = []

    def slowly(self: OpenFile, **kwargs: Any) -> Any:
        time.sleep(0.002)
        return seal(self, **kwargs)

    def checked(self: Store, sources: Any, files: Any) -> None:
        rows = list(sources)
        for row in rows:
            assert not list(bench.root.glob(f"{row.session}/streams/main/*.open"))
        told.append(len(rows))
        commit(self, rows, files)

    monkeypatch.setattr(OpenFile, "seal", slowly)
    monkeypatch.setattr(Store, "commit", checked)
    monkeypatch.setattr(onepass, "_COMMIT_EVERY", 64)
    bench.collect()
    assert sum(told) == 150
    assert len(told) > 1
