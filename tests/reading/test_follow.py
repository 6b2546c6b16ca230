"""A follower yields every record once, whatever happens to the files under it."""

import os
import shutil
import threading
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from collectord.reading import Follow, Problem
from collectord.reading import cut as cut_module
from collectord.reading.follow import COLD_STATS, HOT_S, HOT_SESSIONS
from collectord.sessiondata import Kind, encode
from tests.reading.growing import Growing, append, cut_to, record, source


@pytest.fixture
def growing(quick_tmp: Path) -> Growing:
    return Growing(quick_tmp / "root")


def ords(follow: Follow) -> list[int]:
    return [int(landed.record.ord) for landed in follow.poll()]  # type: ignore[arg-type]


def texts(follow: Follow) -> list[str]:
    return [landed.record.parts[0].text for landed in follow.poll()]


def test_it_starts_at_the_end_of_what_is_there(growing: Growing) -> None:
    growing.sealed(record(1))
    file = growing.open()
    append(file, record(2))
    follow = Follow(growing.path)
    assert ords(follow) == []
    append(file, record(3))
    assert ords(follow) == [3]
    assert ords(follow) == []


def test_it_starts_with_the_last_records_when_asked(growing: Growing) -> None:
    growing.sealed(record(1), record(2))
    file = growing.open()
    append(file, record(3))
    assert ords(Follow(growing.path, last=2)) == [2, 3]
    assert ords(Follow(growing.path, last=1)) == [3]
    assert ords(Follow(growing.path, last=9)) == [1, 2, 3]
    assert ords(Follow(growing.path, last=None)) == [1, 2, 3]


def test_the_last_records_of_several_streams_come_in_order_of_time(growing: Growing) -> None:
    main, child = growing.open(), growing.open(source(stream="child"))
    append(main, record(1, "a", time="2026-01-01T10:00:00Z"))
    append(main, record(2, "c", time="2026-01-01T10:00:02Z"))
    append(child, record(1, "b", time="2026-01-01T10:00:01Z"))
    append(child, record(2, "d"))
    assert texts(Follow(growing.path, last=10)) == ["a", "b", "d", "c"]
    assert texts(Follow(growing.path, last=3)) == ["b", "d", "c"]


def test_a_closing_line_is_no_record(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1), record(2))
    follow = Follow(growing.path, last=None)
    assert ords(follow) == [1, 2]
    append(file, record(3))
    file.seal(closing_line=True)
    assert ords(follow) == [3]
    assert ords(Follow(growing.path, last=2)) == [2, 3]


def test_every_prefix_of_an_open_file_yields_its_whole_lines_once(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1, "é😀"), record(2, "\u2028"), record(3))
    whole = file.path.read_bytes()
    file.close()
    cut_to(file.path, 0)
    follow = Follow(growing.path, last=None)
    seen: list[int] = []
    for size in range(len(whole) + 1):
        file.path.write_bytes(whole[:size])
        seen += ords(follow)
        assert len(seen) == max(0, whole[:size].count(b"\n") - 1)
    assert seen == [1, 2, 3]


def test_starting_in_the_middle_of_a_line_yields_that_line_when_it_ends(growing: Growing) -> None:
    file = growing.open()
    header = file.size
    append(file, record(1), record(2))
    whole = file.path.read_bytes()
    file.close()
    first = whole.index(b"\n", header) + 1
    for size in range(header, len(whole)):
        file.path.write_bytes(whole[:size])
        follow = Follow(growing.path)
        assert ords(follow) == []
        file.path.write_bytes(whole)
        assert ords(follow) == ([2] if size >= first else [1, 2])


def test_sealing_repeats_nothing_and_loses_nothing(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1))
    follow = Follow(growing.path, last=None)
    assert ords(follow) == [1]
    append(file, record(2))
    file.seal()
    assert ords(follow) == [2]
    growing.sealed(record(3))
    assert ords(follow) == [3]
    assert ords(follow) == []


def test_a_file_that_is_opened_filled_and_sealed_between_two_steps_is_read(
    growing: Growing,
) -> None:
    follow = Follow(growing.path)
    assert ords(follow) == []
    growing.sealed(record(1), record(2))
    growing.sealed(record(3))
    assert ords(follow) == [1, 2, 3]


def test_new_sessions_streams_and_kinds_are_found(growing: Growing) -> None:
    follow = Follow(growing.path)
    assert texts(follow) == []
    append(growing.open(source("a")), record(1, "a main"))
    assert texts(follow) == ["a main"]
    append(growing.open(source("b")), record(1, "b main"))
    append(growing.open(source("a", "child")), record(1, "a child"))
    journal = source("a", "", kind=Kind.JOURNAL, batch="run", src="j")
    append(growing.open(journal), record(1, "a journal"))
    assert sorted(texts(follow)) == ["a child", "a journal", "b main"]


def test_a_new_file_is_found_though_its_folder_kept_its_time(growing: Growing) -> None:
    # Times are as coarse as the kernel's tick, or the file system's two seconds.
    first = growing.open()
    folder = first.path.parent
    follow = Follow(growing.path)
    assert ords(follow) == []
    before = folder.stat().st_mtime_ns
    append(growing.open(), record(1))
    os.utime(folder, ns=(before, before))
    assert ords(follow) == [1]


def test_a_root_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    follow = Follow(tmp_path / "root")
    assert texts(follow) == []
    append(Growing(tmp_path / "root").open(), record(1, "first"))
    assert texts(follow) == ["first"]


def test_only_the_session_that_is_asked_for_is_followed(growing: Growing) -> None:
    append(growing.open(source("a")), record(1, "a"))
    follow = Follow(growing.path, growing.folder("a"), last=None)
    append(growing.open(source("b")), record(1, "b"))
    assert texts(follow) == ["a"]


def test_a_shared_directory_is_followed_for_every_owner(tmp_path: Path) -> None:
    follow = Follow(tmp_path)
    assert texts(follow) == []
    for owner in ("ann@host-00000001", "bob@host-00000002"):
        theirs = Growing(tmp_path / owner)
        (theirs.path / "owner.json").write_text("{}")
        append(theirs.open(), record(1, owner))
    assert texts(follow) == ["ann@host-00000001", "bob@host-00000002"]


def test_a_recovered_file_goes_on_in_a_new_inode_without_a_repeat(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1), record(2))
    follow = Follow(growing.path, last=None)
    assert ords(follow) == [1, 2]
    file.close()
    before = file.path.stat().st_ino
    (recovered,) = growing.recover()
    assert recovered.path.stat().st_ino != before
    append(recovered, record(3))
    assert ords(follow) == [3]


@pytest.mark.parametrize("lost_from", [1, 2, 3])
def test_a_file_cut_back_by_a_power_cut_goes_on_without_a_repeat(
    growing: Growing, lost_from: int
) -> None:
    file = growing.open()
    sizes = [file.size]
    for ord_ in (1, 2, 3):
        append(file, record(ord_))
        sizes.append(file.size)
    follow = Follow(growing.path, last=None)
    assert ords(follow) == [1, 2, 3]
    file.close()
    cut_to(file.path, sizes[lost_from] - 5)
    (recovered,) = growing.recover()
    for ord_ in range(lost_from, 6):
        append(recovered, record(ord_))
        assert ords(follow) == ([ord_] if ord_ > 3 else [])


def test_a_record_that_comes_again_with_other_bytes_is_not_a_repeat(growing: Growing) -> None:
    file = growing.open()
    start = file.size
    append(file, record(1, "before"))
    follow = Follow(growing.path, last=None)
    assert texts(follow) == ["before"]
    file.close()
    cut_to(file.path, start)
    (recovered,) = growing.recover()
    append(recovered, record(1, "after!"))
    assert texts(follow) == ["after!"]


def test_the_surplus_of_a_file_sealed_shorter_is_dropped_from_a_later_file(
    growing: Growing,
) -> None:
    file = growing.open()
    append(file, record(1))
    keep = file.size
    append(file, record(2), record(3))
    follow = Follow(growing.path, last=None)
    assert ords(follow) == [1, 2, 3]
    file.close()
    cut_to(file.path, keep)
    (recovered,) = growing.recover()
    recovered.seal()
    assert ords(follow) == []
    later = growing.open(adapter="play-local/0.2.0")
    append(later, record(2), record(3), record(4))
    assert ords(follow) == [4]


def test_the_surplus_of_a_file_that_is_gone_is_dropped_from_a_later_file(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1), record(2))
    follow = Follow(growing.path, last=None)
    assert ords(follow) == [1, 2]
    file.close()
    file.path.unlink()  # not even its header was durable, so its number is free again
    growing.sealed(record(1), record(2), record(3))
    assert ords(follow) == [3]


def test_another_source_with_the_same_lines_is_not_a_repeat(growing: Growing) -> None:
    append(growing.open(), record(1))
    append(growing.open(source(src="copy.jsonl")), record(1))
    assert ords(Follow(growing.path, last=None)) == [1, 1]


def test_garbage_in_an_open_file_waits_for_recovery(growing: Growing) -> None:
    problems: list[Problem] = []
    file = growing.open()
    append(file, record(1))
    good = file.size
    append(file, record(2))
    with file.path.open("r+b") as stream:  # a page that a power cut left as zeros
        stream.seek(good)
        stream.write(b"\0" * 20)
    follow = Follow(growing.path, last=None, problem=problems.append)
    assert ords(follow) == [1]
    file.close()
    (recovered,) = growing.recover()
    append(recovered, record(2), record(3))
    assert ords(follow) == [2, 3]
    assert problems == []


def test_a_bad_line_of_a_sealed_file_is_reported_once_and_passed_over(growing: Growing) -> None:
    problems: list[Problem] = []
    path = growing.sealed(record(1), record(2), record(3))
    whole = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(whole.replace(b'{"ord":2', b'{"ord":x'))
    follow = Follow(growing.path, last=None, problem=problems.append)
    assert ords(follow) == [1, 3]
    assert ords(follow) == []
    assert [problem.path for problem in problems] == [path]


def test_a_file_that_vanishes_ends_nothing(growing: Growing) -> None:
    file = growing.open()
    append(file, record(1))
    other = growing.open(source("other"))
    follow = Follow(growing.path, last=None)
    assert ords(follow) == [1]
    shutil.rmtree(growing.folder())
    append(other, record(7))
    assert ords(follow) == [7]
    append(growing.open(), record(1, "a session of that name again"))
    assert texts(follow) == ["a session of that name again"]


def test_what_a_consumer_left_comes_with_the_next_step(growing: Growing) -> None:
    append(growing.open(), record(1), record(2), record(3))
    follow = Follow(growing.path, last=None)
    first = next(iter(follow.poll()))
    assert first.record.ord == 1
    assert ords(follow) == [2, 3]


def test_what_is_remembered_is_bounded(growing: Growing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_module, "RECENT_RECORDS", 3)
    file = growing.open()
    append(file, *(record(ord_) for ord_ in range(1, 11)))
    follow = Follow(growing.path, last=None)
    assert ords(follow) == list(range(1, 11))
    file.close()
    cut_to(file.path, file.size - 5)
    (recovered,) = growing.recover()
    append(recovered, record(10), record(11))
    assert ords(follow) == [11]


def test_a_quiet_session_is_still_looked_at_in_its_turn(growing: Growing) -> None:
    now = 0.0
    files = [growing.open(source(f"s{number}")) for number in range(3)]
    follow = Follow(growing.path, clock=lambda: now)
    assert ords(follow) == []
    now = 2 * HOT_S
    assert ords(follow) == []
    append(files[1], record(1))
    assert ords(follow) == [1]


def test_a_step_costs_the_same_however_many_sessions_there_are(
    growing: Growing, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 2 * COLD_STATS
    for number in range(count):
        (growing.path / f"s{number:04d}" / "streams" / "main").mkdir(parents=True)
    follow = Follow(growing.path)
    assert ords(follow) == []
    looks = 0
    stat = os.stat

    def counted(path: Path) -> os.stat_result:
        nonlocal looks
        looks += 1
        return stat(path)

    with monkeypatch.context() as patched:
        patched.setattr("collectord.reading.follow.LandingRoot.sessions", lambda self: iter(()))
        # Folders that were just made are unsettled, and listed at every look.
        patched.setattr("collectord.reading.follow._RACY_NS", -(10**18))
        for _ in range(count):
            assert ords(follow) == []
        patched.setattr("collectord.reading.follow.os.stat", counted)
        assert ords(follow) == []
    assert COLD_STATS // 2 < looks < 2 * (COLD_STATS + HOT_SESSIONS)
    append(growing.open(source(f"s{count // 2:04d}")), record(1))
    found: list[int] = []
    for _ in range(count * 5 // COLD_STATS + 1):
        found += ords(follow)
    assert found == [1]


def test_run_ends_when_it_is_told_to(growing: Growing) -> None:
    append(growing.open(), record(1), record(2))
    stop = threading.Event()
    seen: list[object] = []
    for landed in Follow(growing.path, last=None).run(stop):
        seen.append(landed.record.ord)
        stop.set()
    assert seen == [1]


def test_run_waits_without_turning_when_nothing_comes(growing: Growing) -> None:
    class Counting(threading.Event):
        waits = 0

        def wait(self, timeout: float | None = None) -> bool:
            assert timeout is not None
            assert 0.01 <= timeout <= 0.1
            self.waits += 1
            if self.waits == 3:
                self.set()
            return self.is_set()

    stop = Counting()
    assert list(Follow(growing.path).run(stop)) == []
    assert stop.waits == 3


class World:
    """One source that lands, crashes, is cut back and goes on, and a follower beside it."""

    def __init__(self, path: Path) -> None:
        self.growing = Growing(path)
        self.follow = Follow(self.growing.path, last=None)
        self.landed = 0
        self.highest = 0
        self.seen: list[int] = []
        self.file = self.growing.open()
        self.stops = [self.file.size]

    def act(self, action: str, amount: int) -> None:
        match action:
            case "land":
                for _ in range(amount):
                    self.landed += 1
                    append(self.file, record(self.landed))
                    self.stops.append(self.file.size)
                self.highest = max(self.highest, self.landed)
            case "look":
                self.seen += ords(self.follow)
            case "look a little":
                for landed in self.follow.poll():
                    self.seen.append(int(landed.record.ord))  # type: ignore[arg-type]
                    break
            case "seal":
                self.file.seal()
                self.file = self.growing.open()
                self.stops = [self.file.size]
            case "power cut":
                self.file.close()
                lost = min(amount, len(self.stops) - 1)
                if lost:
                    cut_to(self.file.path, self.stops[-1 - lost] + 3)
                    del self.stops[-lost:]
                self.landed -= lost
                (self.file,) = self.growing.recover()
            case "power cut, new version":
                self.act("power cut", amount)
                self.act("seal", 1)


ACTIONS = st.tuples(
    st.sampled_from(
        ["land", "land", "look", "look a little", "seal", "power cut", "power cut, new version"]
    ),
    st.integers(1, 3),
)


@settings(max_examples=50, deadline=None)
@given(actions=st.lists(ACTIONS, max_size=20))
def test_every_record_that_was_landed_for_good_comes_once(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, int]]
) -> None:
    world = World(tmp_path_factory.mktemp("world"))
    for action, amount in actions:
        world.act(action, amount)
    world.act("land", world.highest - world.landed)
    world.act("look", 1)
    assert world.seen == list(range(1, world.highest + 1))


def test_a_line_too_long_to_hold_comes_as_its_place(
    growing: Growing, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("collectord.reading.files", "collectord.sessiondata.reader"):
        monkeypatch.setattr(f"{module}.LONG_LINE_BYTES", 1 << 20)
    file = growing.open()
    data = b'"k":"unknown","data":"' + b"z" * (3 << 20) + b'",'
    line = encode(record(1)).replace(b'"k":"text","text":"line 1",', data)
    file.append(line, records=1)
    append(file, record(2))
    first, second = Follow(growing.path, last=None).poll()
    assert first.raw is None
    assert first.path.read_bytes()[first.start : first.stop] == line
    assert (first.record.ord, second.record.ord) == (1, 2)


def test_a_follower_beside_a_writer_at_work_sees_every_record_once_in_order(
    growing: Growing,
) -> None:
    count = 400
    stop = threading.Event()

    def write() -> None:
        file = growing.open()
        for ord_ in range(1, count + 1):
            append(file, record(ord_))
            if ord_ % 7 == 0:
                file.seal()
                file = growing.open()
            elif ord_ % 31 == 0:
                file.close()
                (file,) = growing.recover()

    writer = threading.Thread(target=write)
    follow = Follow(growing.path)
    assert ords(follow) == []
    writer.start()
    seen: list[int] = []
    give_up = threading.Timer(30, stop.set)
    give_up.start()
    for landed in follow.run(stop, interval_s=0.001):
        seen.append(int(landed.record.ord))  # type: ignore[arg-type]
        if len(seen) == count:
            stop.set()
    give_up.cancel()
    writer.join()
    assert seen == list(range(1, count + 1))
    assert ords(follow) == []
