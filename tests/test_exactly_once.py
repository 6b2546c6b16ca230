"""
Each source record lands exactly once, whatever happens between two passes.

Every pass is a fresh process. Between passes the state store is kept, deleted, or an
older copy of it is put back: it holds caches only, and the disk always wins.
"""

import json
import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectord.adapter import Plugin
from collectord.audit import AuditKind, against_sources
from collectord.pipeline import Surroundings
from collectord_adapters.claude_code import ADAPTER
from tests.audit.audited import AccountingAdapter
from tests.landed import Place, check_numbers, leftovers, places_of
from tests.workbench import Workbench, lines

MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
SESSION = "00000000-0000-4000-8000-000000000001"


class Bench(Workbench):
    """A workbench with both runtimes, and a state store that is not always there as it was."""

    store = "kept"

    def __init__(self, tmp: Path, **landing: object) -> None:
        super().__init__(tmp, **landing)
        self.claude = tmp / "projects"
        self.claude.mkdir(exist_ok=True)
        self._copy = tmp / "older"

    def surroundings(self) -> Surroundings:
        plugins = [
            Plugin("plain", AccountingAdapter(self.sources), "tests 0"),
            Plugin("claude-code", ADAPTER, "tests 0"),
        ]
        environ = {"CLAUDE_CONFIG_DIR": str(self.claude.parent)}
        return Surroundings(self.config, self.state, plugins, (), environ, self.sources)

    def step(self) -> None:
        """Run one pass in a process of its own, with the store as this bench has it."""
        if self.store == "deleted":
            self.forget_state()
        elif self.store == "older" and self._copy.exists():
            self.forget_state()
            shutil.copytree(self._copy, self.state)
        summary = self.collect()
        assert not summary.failures
        if not self._copy.exists():
            self.keep_copy()

    def keep_copy(self) -> None:
        shutil.copytree(self.state, self._copy)

    def visit_without_sealing(self) -> None:
        """What a daemon does that is killed while a cut grows."""
        with self.process() as assembly:
            for path in self.files():
                source = assembly.roots.locate(path)
                if source is not None:
                    assembly.collector.visit(source)

    def landed(self, src: str) -> list[Place]:
        return places_of(self.root, src)

    def check(self) -> None:
        """Assert what holds after a pass: nothing twice, numbers without a gap, a clean audit."""
        check_numbers(self.root)
        for path in self.files():
            if path.name.endswith(".jsonl"):
                places = self.landed(path.relative_to(self.sources).as_posix())
                keys = [(place.ord, place.sha) for place in places]
                assert len(keys) == len(set(keys)), path
        audit = against_sources(self.surroundings())
        for source in audit:
            odd = [found for found in source.findings if found.is_fault]
            odd += [found for found in source.findings if found.kind is AuditKind.BEHIND]
            assert odd == []
        assert audit.landed == audit.records
        assert audit.total.difference == 0

    def files(self) -> list[Path]:
        return [path for path in sorted(self.sources.rglob("*")) if path.is_file()]


def in_one_pass(tmp: Path, data: bytes, name: str = "s.jsonl") -> list[Place]:
    """Return what lands of *data* when it is there from the start."""
    bench = Workbench(tmp / "reference")
    bench.write(name, data)
    bench.collect()
    places = places_of(bench.root)
    shutil.rmtree(tmp / "reference")
    return places


def view(places: list[Place]) -> dict[int, str]:
    """Return the current view: the digest of the newest record of each number."""
    return {place.ord: place.sha for place in places}


@pytest.fixture(params=["kept", "deleted", "older"])
def bench(request: pytest.FixtureRequest, quick_tmp: Path) -> Bench:
    bench = Bench(quick_tmp)
    bench.store = request.param
    return bench


ODD = b'\xef\xbb\xbf{"a":1}\n\n{"b":2}\r\n  \nnot JSON\n\xff\n{"long":"' + b"x" * 300 + b'"}\n'
"""A BOM, blank lines, CRLF, no JSON, no UTF-8: each a place where counting could go wrong."""


def claude_line(number: int) -> bytes:
    record = {
        "type": "user" if number % 2 else "assistant",
        "uuid": f"u{number}",
        "sessionId": SESSION,
        "cwd": "/a" if number < 4 else "/b",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": f"text {number}"},
    }
    return json.dumps(record).encode() + b"\n"


def test_stopped_and_started_between_any_two_records(bench: Bench, tmp_path: Path) -> None:
    data = lines(1, 4) + ODD + lines(5, 8)
    written = b""
    for line in data.splitlines(keepends=True):
        written += line
        bench.write("s.jsonl", written)
        bench.step()
        bench.check()
    assert bench.landed("s.jsonl") == in_one_pass(tmp_path, data)
    assert leftovers(bench.root) == []


def test_a_session_of_claude_code_stopped_and_started_anywhere(
    bench: Bench, quick_tmp: Path
) -> None:
    data = b"".join(map(claude_line, range(1, 9)))
    path = bench.claude / "-a" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    rng = random.Random(7)
    cuts = [*sorted(rng.sample(range(1, len(data)), 12)), len(data)]
    for cut in cuts:
        path.write_bytes(data[:cut])
        bench.step()
    grown = places_of(bench.root)
    whole = Bench(quick_tmp / "whole")
    path = whole.claude / "-a" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    path.write_bytes(data)
    whole.step()
    assert grown == places_of(whole.root)
    check_numbers(bench.root)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 120)),
        st.tuples(st.sampled_from(["collect", "visit", "delete", "restore"]), st.integers(0, 9)),
    ),
    min_size=4,
    max_size=16,
)


@settings(max_examples=60)
@given(steps=STEPS, file_bytes=st.sampled_from([300, 700, 2 << 20]))
def test_whatever_becomes_of_the_store(steps: list[tuple[str, int]], file_bytes: int) -> None:
    data = ODD + lines(1, 9, width=30) + ODD.removeprefix(b"\xef\xbb\xbf")
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        tmp = Path(folder)
        bench = Bench(tmp, max_file_bytes=file_bytes)
        copies: list[Path] = []
        at = 0
        for step, number in steps:
            match step:
                case "append":
                    at += number
                    bench.write("s.jsonl", data[:at])
                case "collect":
                    bench.collect()
                case "visit":
                    bench.visit_without_sealing()
                case "delete":
                    bench.forget_state()
                case "restore" if copies:
                    bench.forget_state()
                    shutil.copytree(copies[number % len(copies)], bench.state)
            if step in ("collect", "visit") and bench.state.exists():
                copies.append(tmp / f"copy-{len(copies)}")
                shutil.copytree(bench.state, copies[-1])
        bench.write("s.jsonl", data)
        bench.collect()
        assert bench.landed("s.jsonl") == in_one_pass(tmp, data)
        bench.check()
        assert leftovers(bench.root) == []
        assert bench.collect().records == 0


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 9)),
        st.tuples(
            st.sampled_from(["half", "shorten", "rewrite", "replace", "delete and restore"]),
            st.integers(0, 9),
        ),
        st.tuples(st.sampled_from(["collect", "visit", "forget", "older"]), st.integers(0, 9)),
    ),
    min_size=4,
    max_size=14,
)


@settings(max_examples=60)
@given(changes=CHANGES, file_bytes=st.sampled_from([300, 700, 2 << 20]))
def test_whatever_becomes_of_the_source(changes: list[tuple[str, int]], file_bytes: int) -> None:
    """Each change of what was there is seen by a pass before the source grows again."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        tmp = Path(folder)
        bench = Bench(tmp, max_file_bytes=file_bytes)
        written = [b'{"n":0}\n']
        path = bench.write("s.jsonl", b"".join(written))
        copies: list[Path] = []
        for count, (change, number) in enumerate(changes, 1):
            fresh = b'{"n":"%d%s"}\n' % (count, b"x" * 9 * number)
            match change:
                case "append":
                    written.append(fresh)
                    path.write_bytes(b"".join(written))
                case "half":
                    path.write_bytes(b"".join(written) + fresh[:-3])
                case "shorten":
                    del written[number:]
                    os.truncate(path, len(b"".join(written)))
                    bench.visit_without_sealing()
                case "rewrite" if written:
                    written[number % 3 % len(written)] = fresh
                    path.write_bytes(b"".join(written))
                    bench.collect()
                case "replace":
                    bench.write("fresh.tmp", b"".join(written)).replace(path)
                case "delete and restore":
                    path.unlink()
                    bench.collect()
                    path.write_bytes(b"".join(written))
                case "collect":
                    bench.collect()
                case "visit":
                    bench.visit_without_sealing()
                case "forget":
                    bench.forget_state()
                case "older" if copies:
                    bench.forget_state()
                    shutil.copytree(copies[number % len(copies)], bench.state)
            if bench.state.exists():
                copies.append(tmp / f"copy-{len(copies)}")
                shutil.copytree(bench.state, copies[-1])
        path.write_bytes(b"".join(written))
        bench.collect()
        bench.check()
        assert bench.collect().records == 0
        assert leftovers(bench.root) == []


def test_rewritten_in_the_middle(bench: Bench, tmp_path: Path) -> None:
    bench.write("s.jsonl", lines(1, 6))
    bench.step()
    new = lines(1, 2) + b'{"n":"a longer other line"}\n' + lines(4, 8)
    bench.write("s.jsonl", new)
    bench.step()
    bench.step()
    bench.check()
    landed = bench.landed("s.jsonl")
    # Line 3 is new, lines 4 to 6 only stand elsewhere, 7 and 8 were added.
    assert [place.ord for place in landed] == [1, 2, 3, 4, 5, 6, 3, 7, 8]
    assert view(landed) == view(in_one_pass(tmp_path, new))
    bench.append("s.jsonl", lines(9, 9))
    bench.step()
    bench.check()
    assert bench.landed("s.jsonl")[-1].ord == 9


def test_truncated_and_grown_again(bench: Bench, tmp_path: Path) -> None:
    bench.write("s.jsonl", lines(1, 6))
    bench.step()
    bench.write("s.jsonl", lines(1, 3))
    bench.step()
    assert [place.ord for place in bench.landed("s.jsonl")] == [1, 2, 3, 4, 5, 6]
    new = lines(1, 3) + b'{"n":"other"}\n'
    bench.write("s.jsonl", new)
    bench.step()
    bench.step()
    bench.check()
    assert [place.ord for place in bench.landed("s.jsonl")] == [1, 2, 3, 4, 5, 6, 4]
    bench.write("s.jsonl", b"")
    bench.step()
    bench.write("s.jsonl", lines(11, 12))
    bench.step()
    bench.check()
    landed = bench.landed("s.jsonl")
    assert [place.ord for place in landed] == [1, 2, 3, 4, 5, 6, 4, 1, 2]
    assert {1: landed[-2].sha, 2: landed[-1].sha} == view(in_one_pass(tmp_path, lines(11, 12)))


def test_replaced_by_a_rename_with_the_same_beginning_it_goes_on(bench: Bench) -> None:
    path = bench.write("s.jsonl", lines(1, 4))
    bench.step()
    fresh = bench.write("fresh.tmp", lines(1, 6))
    fresh.replace(path)
    bench.step()
    bench.check()
    assert [place.ord for place in bench.landed("s.jsonl")] == [1, 2, 3, 4, 5, 6]


def test_replaced_by_a_rename_with_other_content_is_a_generation(
    bench: Bench, tmp_path: Path
) -> None:
    path = bench.write("s.jsonl", lines(1, 4))
    bench.step()
    bench.write("fresh.tmp", lines(11, 16)).replace(path)
    bench.step()
    bench.step()
    bench.check()
    assert [place.ord for place in bench.landed("s.jsonl")] == [1, 2, 3, 4, 1, 2, 3, 4, 5, 6]
    assert view(bench.landed("s.jsonl")) == view(in_one_pass(tmp_path, lines(11, 16)))


def test_moved_to_another_project_it_goes_on(bench: Bench) -> None:
    path = bench.write("a/s.jsonl", lines(1, 3))
    bench.step()
    for number, project in enumerate("bcd", 4):
        moved = bench.sources / project / "s.jsonl"
        moved.parent.mkdir()
        path.rename(moved)
        path = moved
        bench.append(f"{project}/s.jsonl", lines(number, number))
        bench.step()
        bench.step()
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5, 6]
    bench.check()


def test_moved_twice_and_then_rewritten_nothing_lands_twice(bench: Bench) -> None:
    path = bench.write("a/s.jsonl", lines(1, 3))
    bench.step()
    for number, project in enumerate("bc", 4):
        moved = bench.sources / project / "s.jsonl"
        moved.parent.mkdir()
        path.rename(moved)
        path = moved
        bench.append(f"{project}/s.jsonl", lines(number, number))
        bench.step()
    bench.write("c/s.jsonl", lines(1, 3) + b'{"n":"other"}\n' + lines(5, 6))
    bench.step()
    bench.step()
    keys = [(place.ord, place.sha) for place in places_of(bench.root)]
    assert len(keys) == len(set(keys))
    assert [ord_ for ord_, _ in keys] == [1, 2, 3, 4, 5, 4, 6]


def test_moved_away_and_back_it_goes_on(bench: Bench) -> None:
    bench.write("a/s.jsonl", lines(1, 3))
    bench.step()
    (bench.sources / "b").mkdir()
    for number, (here, there) in enumerate([("a", "b"), ("b", "a"), ("a", "b"), ("b", "a")], 4):
        (bench.sources / here / "s.jsonl").rename(bench.sources / there / "s.jsonl")
        bench.append(f"{there}/s.jsonl", lines(number, number))
        bench.step()
        bench.step()
        assert [place.ord for place in places_of(bench.root)] == list(range(1, number + 1))
    bench.check()


def test_moved_away_and_back_while_its_file_grows(bench: Bench) -> None:
    bench.write("a/s.jsonl", lines(1, 3))
    bench.visit_without_sealing()
    (bench.sources / "b").mkdir()
    for number, (here, there) in enumerate([("a", "b"), ("b", "a")], 4):
        (bench.sources / here / "s.jsonl").rename(bench.sources / there / "s.jsonl")
        bench.append(f"{there}/s.jsonl", lines(number, number))
        bench.visit_without_sealing()
    bench.step()
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 5]
    bench.check()


def test_rewritten_and_then_moved_it_goes_on(bench: Bench) -> None:
    bench.write("a/s.jsonl", lines(1, 4))
    bench.step()
    bench.write("a/s.jsonl", lines(1, 2) + b'{"n":"other"}\n' + lines(4, 5))
    bench.step()
    (bench.sources / "b").mkdir()
    (bench.sources / "a/s.jsonl").rename(bench.sources / "b/s.jsonl")
    bench.step()
    bench.append("b/s.jsonl", lines(6, 6))
    bench.step()
    bench.step()
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4, 3, 5, 6]
    bench.check()


def test_moved_without_a_change_nothing_lands(bench: Bench) -> None:
    path = bench.write("a/s.jsonl", lines(1, 3))
    bench.step()
    (bench.sources / "b").mkdir()
    path.rename(bench.sources / "b" / "s.jsonl")
    bench.step()
    bench.step()
    assert len(places_of(bench.root)) == 3


def test_copied_each_is_a_source_of_its_own(bench: Bench) -> None:
    bench.write("a/s.jsonl", lines(1, 3))
    bench.step()
    bench.write("b/s.jsonl", lines(1, 3))
    bench.step()
    bench.append("a/s.jsonl", lines(4, 4))
    bench.append("b/s.jsonl", b'{"n":"b"}\n')
    bench.step()
    bench.check()
    for src in ("a/s.jsonl", "b/s.jsonl"):
        assert [place.ord for place in bench.landed(src)] == [1, 2, 3, 4]
    (bench.sources / "a/s.jsonl").unlink()
    bench.append("b/s.jsonl", lines(5, 5))
    bench.step()
    bench.check()
    assert [place.ord for place in bench.landed("b/s.jsonl")] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("link", ["hard", "symbolic"])
@pytest.mark.parametrize("name", ["a.jsonl", "z.jsonl"])
def test_a_second_name_of_a_file_is_the_same_source(bench: Bench, link: str, name: str) -> None:
    path = bench.write("s.jsonl", lines(1, 3))
    bench.step()
    other = bench.sources / name
    if link == "hard":
        other.hardlink_to(path)
    else:
        other.symlink_to(path)
    bench.step()
    bench.append("s.jsonl", lines(4, 4))
    bench.step()
    bench.step()
    assert [place.ord for place in places_of(bench.root)] == [1, 2, 3, 4]


def test_deleted_and_there_again(bench: Bench) -> None:
    path = bench.write("s.jsonl", lines(1, 3))
    bench.step()
    path.unlink()
    bench.step()
    bench.step()
    bench.write("s.jsonl", lines(1, 4))
    bench.step()
    bench.check()
    assert [place.ord for place in bench.landed("s.jsonl")] == [1, 2, 3, 4]
    path.unlink()
    bench.write("s.jsonl", lines(11, 12))
    bench.step()
    bench.step()
    bench.check()
    assert [place.ord for place in bench.landed("s.jsonl")] == [1, 2, 3, 4, 1, 2]


def test_a_document_that_changes_and_changes_back(bench: Bench) -> None:
    for version in (b'{"v":1}', b'{"v":1}\n', b'{"v":2}', b'{"v":1}'):
        bench.write("a.doc.json", version)
        bench.step()
        bench.step()
    one, two, three = bench.landed("a.doc.json")
    assert one == three != two
    bench.check()


def test_two_sources_of_one_session_share_its_numbers(bench: Bench) -> None:
    for number in range(1, 5):
        bench.append("a/s.jsonl", lines(number, number)) if number > 1 else bench.write(
            "a/s.jsonl", lines(1, 1)
        )
        bench.write("b/s.jsonl", lines(11, 10 + number))
        bench.step()
    bench.check()
    for src in ("a/s.jsonl", "b/s.jsonl"):
        assert [place.ord for place in bench.landed(src)] == [1, 2, 3, 4]


@pytest.mark.parametrize("session", ["..", ".", "x" * 300, "", "a/../../b", "con", "ü/\n"])
def test_a_session_id_that_is_no_path_never_leaves_the_root(bench: Bench, session: str) -> None:
    record = json.dumps({"session": session}, separators=(",", ":")).encode() + b"\n"
    bench.write("open-1.jsonl", record + lines(1, 2))
    bench.write("good.jsonl", lines(1, 2))
    for _ in range(2):
        bench.step()
        refused = {each.src for each in bench.collect().refused}
    ords = [place.ord for place in bench.landed("open-1.jsonl")]
    if session in ("..", ".", "", "x" * 300):
        assert (ords, refused) == ([], {"open-1.jsonl"})
    else:
        assert (ords, refused) == ([1, 2, 3], set())
    assert len(bench.landed("good.jsonl")) == 2
    folders = {path.name for path in bench.root.parent.iterdir()}
    assert folders <= {"sources", "root", "state", "projects", "older"}
    inside = [path for path in bench.root.iterdir() if path.name != ".collectord"]
    assert all(path.resolve().parent == bench.root.resolve() for path in inside)
    check_numbers(bench.root)
