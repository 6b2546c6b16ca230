"""Folders behind symbolic links: collected as soon as any other, and only once."""

import shutil
import uuid
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest
import structlog
from structlog.testing import capture_logs

from collectord.daemon import linked
from collectord.daemon.linked import LinkedFolders
from collectord.watch import ChangedPaths
from tests.daemon.living import Daemon, Home, append, record, until

WITHIN_S = 1.0


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def new(home: Home, slug: str) -> Path:
    return home.path(str(uuid.uuid4()), slug=slug)


def test_records_behind_a_link_can_be_read_within_a_second(home: Home) -> None:
    """With nothing but events: no walk falls into the time of the test."""
    (home.folder / "elsewhere").mkdir()
    (home.projects / "-link").symlink_to(home.folder / "elsewhere")
    with Daemon(home, WATCH__RESCAN_EVERY="10m").ready() as daemon:
        until(lambda: any(e.get("root", "").endswith("-link") for e in daemon.events()))
        path = new(home, "-link")
        for number in range(3):
            append(path, record(number) + b"\n")
            assert until(lambda n=number: home.landed().total() == n + 1) < WITHIN_S  # type: ignore[misc]
        child = home.path(path.stem, slug="-link", child="a11")
        append(child, record(10) + b"\n")
        assert until(lambda: home.landed().total() == 4) < WITHIN_S
        assert daemon.end(15) == 0
    headers = [path.read_text("utf-8").partition("\n")[0] for path in home.files()]
    assert all('"src":"-link/' in header for header in headers)
    assert {place.session for place in home.landed()} == {path.stem}


def test_a_link_that_comes_goes_and_leads_elsewhere_is_followed(home: Home) -> None:
    for name in ("one", "two"):
        (home.folder / name).mkdir()
    link = home.projects / "-link"
    with Daemon(home, WATCH__RESCAN_EVERY="10m").ready() as daemon:
        for number, name in enumerate(("one", "two")):
            append(home.folder / name / f"{uuid.uuid4()}.jsonl", record(number) + b"\n")
            link.symlink_to(home.folder / name)
            until(lambda n=number: home.landed().total() == 2 * n + 1)  # type: ignore[misc]
            append(new(home, "-link"), record(number) + b"\n")
            assert until(lambda n=number: home.landed().total() == 2 * n + 2) < WITHIN_S  # type: ignore[misc]
            link.unlink()
            until(lambda n=number: stopped(daemon) == n + 1)  # type: ignore[misc]
        assert daemon.end(15) == 0


def stopped(daemon: Daemon) -> int:
    return sum(each["event"] == "watch.stopped" for each in daemon.events())


def test_a_link_into_the_root_and_a_loop_land_nothing_twice(home: Home) -> None:
    path = new(home, "-work")
    append(path, record(0) + b"\n")
    (path.parent / "loop").symlink_to(home.projects)
    (home.projects / "-again").symlink_to(path.parent)
    (home.projects / "-around").symlink_to(home.folder)
    with Daemon(home, WATCH__RESCAN_EVERY="1s").ready() as daemon:
        until(lambda: home.landed().total() == 1)
        append(path, record(1) + b"\n")
        assert until(lambda: home.landed().total() == 2) < WITHIN_S
        (home.projects / "-later").symlink_to(path.parent)
        other = new(home, "-other")
        append(other, record(2) + b"\n")
        until(lambda: home.landed().total() == 3)
        assert daemon.end(15) == 0
        events = [each for each in daemon.events() if each["event"] == "watch.started"]
    roots = [each["root"] for each in events if Path(each["root"]).is_relative_to(home.projects)]
    assert roots == [str(home.projects)]
    assert max(home.landed().values()) == 1


def test_a_linked_folder_that_is_made_again_is_watched_anew(home: Home) -> None:
    real = home.folder / "elsewhere"
    real.mkdir()
    (home.projects / "-link").symlink_to(real)
    with Daemon(home, WATCH__RESCAN_EVERY="1s").ready() as daemon:
        append(new(home, "-link"), record(0) + b"\n")
        until(lambda: home.landed().total() == 1)
        shutil.rmtree(real)
        until(lambda: stopped(daemon) == 1)
        real.mkdir()
        append(new(home, "-link"), record(1) + b"\n")
        until(lambda: home.landed().total() == 2)
        assert daemon.end(15) == 0


class Followed(NamedTuple):
    """What came of following the links of some walks."""

    names: list[str]
    began: list[bool]
    reasons: list[str]


def follow(walks: list[list[Path]], roots: list[Path]) -> Followed:
    """Follow the links of each walk; nothing is watched but on a timer."""

    began: list[bool] = []

    async def each() -> None:
        folders = LinkedFolders(ChangedPaths(), "poll")
        async with anyio.create_task_group() as group:
            began.extend([await folders.follow(group, links, roots) for links in walks])

    structlog.reset_defaults()
    with capture_logs() as logs:
        anyio.run(each)
    return Followed(
        [one["root"] for one in logs if one["event"] == "watch.started"],
        began,
        [one["reason"] for one in logs if one["event"] == "watch.degraded"],
    )


def linked_folders(folder: Path, count: int) -> list[Path]:
    links = []
    for number in range(count):
        (folder / f"real{number}").mkdir()
        link = folder / f"link{number}"
        link.symlink_to(folder / f"real{number}")
        links.append(link)
    return links


def test_a_known_link_is_not_watched_again(tmp_path: Path) -> None:
    links = linked_folders(tmp_path, 2)
    followed = follow([links, links, links[:1], links], [])
    assert followed.names == [*map(str, links), str(links[1])]
    assert followed.began == [True, False, False, True]


def test_past_the_bound_it_says_so_once_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked, "MOST", 2)
    links = linked_folders(tmp_path, 4)
    followed = follow([links, links, links[1:]], [])
    assert followed.names == [str(link) for link in links[:3]]
    assert followed.began == [True, False, True]
    assert followed.reasons == ["only 2 folders behind symbolic links are watched"]


def test_what_is_watched_already_gets_no_second_watcher(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    links = linked_folders(folder, 2)
    inner = folder / "real0" / "inner"
    inner.mkdir()
    (folder / "link2").symlink_to(inner)
    (folder / "link3").symlink_to(folder / "not there")
    walk = [*links, folder / "link2", folder / "link3"]
    assert follow([walk], [folder / "real1"]).names == [str(links[0])]
