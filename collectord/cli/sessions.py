"""
``collectord sessions``: what was collected, the session that was active last first.

The order is that of ``ls -lt`` and ``git log``, because the newest one is what people look
for. Counting records reads every file, so it has to be asked for.
"""

from typing import Any

import click

from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.reading import Session, sessions
from collectord.reading.display import inline
from collectord.reading.raw import for_terminal

__all__ = ["command"]

_NAME_CHARACTERS = 48


@click.command(
    epilog=examples(
        "collectord sessions --limit 10",
        "collectord sessions --json | jq -r .session",
    )
)
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N sessions."
)
@click.option("--records", is_flag=True, help="Count the records: reads every file.")
@common_options
def command(settings: Settings, limit: int | None, records: bool) -> None:
    """
    List the sessions that were collected, the one that was active last first.

    The name is the label that the runtime gave the session, else its first words, in quotes.
    """
    found = [one for one in sessions(settings.root) if _is_wanted(one, settings.adapter_keys)]
    found.sort(key=lambda one: (one.last_at, one.id), reverse=True)
    shown = found[:limit]
    if settings.json:
        for session in shown:
            line = console.json_line(_described(session, records=records))
            console.write(for_terminal(line.encode()))
        return
    if not found:
        of = f" of {', '.join(settings.adapter_keys)}" if settings.adapter_keys else ""
        console.write_note(f"No session{of} in {settings.root}: nothing has landed there yet.")
        return
    counted = ["records"] if records else []
    columns = ["session", "agent", "name", "active", "streams", *counted, "size", "state"]
    rows = [_row(session, records=records) for session in shown]
    console.write_table(columns, rows, right=("streams", "records", "size"))
    if len(shown) < len(found):
        hidden = console.counted(len(found) - len(shown), "older session")
        console.write_note(f"Not shown: {hidden} (--limit {limit}).")


def _is_wanted(session: Session, keys: tuple[str, ...]) -> bool:
    names = {session.header.adapter.partition("/")[0], session.header.dialect.partition("/")[0]}
    return not keys or not names.isdisjoint(keys)


def _row(session: Session, *, records: bool) -> list[object]:
    name = session.label or (f'"{session.opening}"' if session.opening else "")
    name = " ".join(name.split())
    if len(name) > _NAME_CHARACTERS:
        name = name[: _NAME_CHARACTERS - 1] + "…"
    return [
        inline(f"{session.owner}/{session.id}" if session.owner else session.id),
        inline(session.header.dialect.partition("/")[0]),
        inline(name),
        console.human_time(session.last_at),
        session.streams,
        *([f"{session.count_records():,}"] if records else []),
        console.human_bytes(session.bytes),
        "open" if session.is_open else "",
    ]


def _described(session: Session, *, records: bool) -> dict[str, Any]:
    described: dict[str, Any] = {
        "session": session.id,
        "owner": session.owner,
        "adapter": session.header.adapter,
        "dialect": session.header.dialect,
        "label": session.label,
        "opening": session.opening[:200],
        "first_time": session.first_time,
        "last_time": session.last_time,
        "streams": session.streams,
        "runs": session.runs,
        "files": len(session.files),
        "bytes": session.bytes,
        "open": session.is_open,
        "path": str(session.folder),
    }
    if records:
        described["records"] = session.count_records()
    return {key: value for key, value in described.items() if value != ""}
