"""``collectord status``: is a daemon at work, and what waits."""

import click

from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.daemon import Status, status_of

__all__ = ["command"]

_SHOWN = 10


@click.command(epilog=examples("collectord status", "collectord status --json"))
@common_options
def command(settings: Settings) -> None:
    """
    Say whether a daemon is at work on the landing root, what it holds, and what waits.

    Read from the lock and the state store; no daemon need be running.
    """
    status = status_of(settings.config, settings.state_dir)
    if settings.json:
        console.write_json(
            {
                "root": str(status.root),
                "store": str(status.store),
                "daemon": None
                if status.holder is None
                else {
                    "pid": status.holder.pid,
                    "host": status.holder.host,
                    "start": status.holder.start,
                },
                **status.counts,
                "growing": [row.src for row in status.growing],
                "pending": [{"src": row.src, "bytes": row.pending_bytes} for row in status.pending],
                "refused": [{"src": row.src, "reason": row.note} for row in status.refused],
            }
        )
        return
    _say(status)


def _say(status: Status) -> None:
    running = f"running ({status.holder})" if status.holder is not None else "not running"
    console.write(f"Daemon     {running}")
    console.write(f"Root       {status.root}")
    if not status.counts:
        console.write("Collected  nothing yet: try 'collectord collect' or 'collectord run'.")
        return
    counts = status.counts
    console.write(
        f"Collected  {console.counted(counts['records'], 'record')}"
        f" of {console.counted(counts['sessions'], 'session')}"
        f" in {console.counted(counts['files'], 'sealed file')}"
        f" ({console.human_bytes(counts['bytes'])})"
    )
    console.write(
        f"Sources    {counts['sources']:,} known, {counts['gone']:,} gone,"
        f" {len(status.growing):,} growing"
    )
    for title, lines in (
        (
            "Pending",
            [
                f"{row.src}: {console.counted(row.pending_bytes, 'byte')} without a newline"
                for row in status.pending
            ],
        ),
        ("Refused", [f"{row.src}: {row.note}" for row in status.refused]),
    ):
        if lines:
            console.write(f"{title}    {len(lines):,}")
            for line in lines[:_SHOWN]:
                console.write(console.printable(f"  {line}"))
            if len(lines) > _SHOWN:
                console.write(f"  … and {len(lines) - _SHOWN:,} more, see --json")
