"""``collectord sources``: the files that agents write, and how far each is collected."""

from pathlib import Path
from typing import Any

import click

from collectord.adapter import Source
from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.cli.surroundings import surroundings_of, where_looked
from collectord.pipeline import landing_root
from collectord.state import SourceRow, Store, store_path
from collectord.watch import walk

__all__ = ["command"]


@click.command(
    epilog=examples("collectord sources", "collectord sources --json", "collectord sources ~/work")
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@common_options
def command(settings: Settings, paths: tuple[Path, ...]) -> None:
    """
    List the files that agents write, and how far each is collected.

    Needs no running daemon. STATE is collected, growing (its newest file is open),
    pending (it ends in the middle of a line), new, changed, gone, or why nothing lands.
    """
    surroundings = surroundings_of(settings, paths)
    landing = landing_root(settings.config)
    rows = _rows(settings, landing.path)
    found: list[dict[str, Any]] = []
    for root in surroundings.roots(landing, record=False).all:
        for top in root.tops:
            for path, stat in walk(top):
                source = root.locate(path)
                if source is not None:
                    row = rows.pop((source.adapter, source.src), None)
                    state = "new" if row is None else _state(row, row.stat == stat)
                    found.append(_described(source, stat.size, state, row))
    if not paths:
        found += [
            {"src": row.src, "kind": row.kind, "session": row.session, "bytes": 0, "state": "gone"}
            for row in rows.values()
        ]
    if settings.json:
        for each in found:
            console.write_json(each)
        return
    if not found:
        console.write(f"No sources found: {where_looked(surroundings)}.")
        return
    console.write_table(
        ["source", "kind", "size", "state"],
        [
            [each["src"], each["kind"], console.human_bytes(each["bytes"]), each["state"]]
            for each in found
        ],
        right=["size"],
    )


def _rows(settings: Settings, root: Path) -> dict[tuple[str, str], SourceRow]:
    path = store_path(settings.state_dir, root)
    if not path.exists():
        return {}
    store = Store(path, "", read_only=True)
    try:
        return {row.key: row for row in store.sources()}
    finally:
        store.close()


def _state(row: SourceRow, unchanged: bool) -> str:
    if row.note:
        return row.note
    if row.gone:
        return "changed"
    if not row.sealed:
        return "growing"
    if row.pending_bytes:
        return f"pending ({console.counted(row.pending_bytes, 'byte')})"
    return "collected" if unchanged else "changed"


def _described(source: Source, size: int, state: str, row: SourceRow | None) -> dict[str, Any]:
    session = source.session or (row.session if row is not None else "")
    return {
        "src": source.src,
        "path": str(source.path),
        "kind": str(source.kind),
        "session": session,
        "stream": source.stream,
        "batch": source.batch,
        "adapter": source.adapter,
        "bytes": size,
        "state": state,
    }
