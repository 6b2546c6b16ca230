"""A watcher marks what changes, under the name that the folder goes by."""

from pathlib import Path

import anyio
from anyio.abc import TaskStatus

from collectord.watch import ChangedPaths, watch_root


def marked(folder: Path, name: Path | None, wanted: Path, change: Path) -> bool:
    """Return whether *wanted* is marked when *change* appears below the watched *folder*."""

    async def watch() -> bool:
        changed = ChangedPaths()
        async with anyio.create_task_group() as group:

            async def begin(*, task_status: TaskStatus[bool]) -> None:
                await watch_root(folder, changed, name=name, task_status=task_status)

            assert await group.start(begin)
            await anyio.Path(change).mkdir()
            with anyio.move_on_after(10):
                while wanted not in await changed.take():
                    pass
                group.cancel_scope.cancel()
                return True
            group.cancel_scope.cancel()
        return False

    return anyio.run(watch)


def test_a_change_is_marked_under_its_own_path(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    assert marked(folder, None, folder / "new", folder / "new")


def test_a_change_behind_a_link_is_marked_under_the_link(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "elsewhere"
    folder.mkdir()
    link = tmp_path / "projects" / "-link"
    assert marked(folder, link, link / "new", folder / "new")
