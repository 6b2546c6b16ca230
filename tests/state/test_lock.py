"""One writer a root, whatever the lock file says."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from collectord.errors import RootBusy
from collectord.landing import LandingRoot
from collectord.state import RootLock, holder_of

HOLD = """
import sys
from pathlib import Path
from collectord.landing import LandingRoot
from collectord.state import RootLock
lock = RootLock(LandingRoot(Path(sys.argv[1])))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def root(tmp_path: Path) -> LandingRoot:
    root = LandingRoot(tmp_path / "root")
    root.create()
    return root


def test_a_second_writer_is_told_who_holds_it(root: LandingRoot) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(root.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        holder = holder_of(root)
        assert holder is not None
        assert holder.pid == other.pid
        with pytest.raises(RootBusy, match=f"pid {other.pid}"):
            RootLock(root)
        other.kill()
        other.wait(10)
    assert holder_of(root) is None
    RootLock(root).release()


def test_a_stale_pid_in_the_file_holds_nothing(root: LandingRoot) -> None:
    (root.own / "lock").write_text('{"pid":1,"host":"elsewhere","start":"2001-01-01T00:00:00Z"}\n')
    assert holder_of(root) is None
    with RootLock(root):
        pass


def test_garbage_in_the_file_is_no_obstacle(root: LandingRoot) -> None:
    (root.own / "lock").write_bytes(b"\xff\0 not json")
    with RootLock(root):
        holder = holder_of(root)
        assert holder is not None


def test_an_unrelated_open_and_close_frees_nothing(root: LandingRoot) -> None:
    with RootLock(root):
        (root.own / "lock").read_bytes()
        with pytest.raises(RootBusy):
            RootLock(root)


def test_the_file_is_never_removed(root: LandingRoot) -> None:
    with RootLock(root):
        inode = (root.own / "lock").stat().st_ino
    with RootLock(root):
        assert (root.own / "lock").stat().st_ino == inode


def test_nobody_holds_a_root_that_is_not_there(tmp_path: Path) -> None:
    assert holder_of(LandingRoot(tmp_path / "none")) is None


def test_a_lock_is_ours_as_long_as_its_path_names_the_locked_file(root: LandingRoot) -> None:
    with RootLock(root) as lock:
        assert lock.is_still_ours()
        moved = root.path.rename(root.path.with_name("moved"))
        assert not lock.is_still_ours()
        root.create()
        assert not lock.is_still_ours()
        (root.own / "lock").touch()
        assert not lock.is_still_ours()
        shutil.rmtree(root.path)
        moved.rename(root.path)
        assert lock.is_still_ours()
        root.path.with_name("file").touch()
        shutil.rmtree(root.path)
        root.path.with_name("file").rename(root.path)
        assert not lock.is_still_ours()
