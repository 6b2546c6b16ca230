"""
``collectord show``: one session as a conversation, or its records as they landed.

A person sees the current view of one stream, each ``id`` once; ``--json`` prints every
record of every file, byte for byte.
"""

import sys

import click

from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.errors import NothingFound
from collectord.reading import (
    Entry,
    Session,
    conversation,
    find_session,
    find_stream,
    landed_bytes,
    streams,
)
from collectord.reading.display import blocks, inline, one_line, who
from collectord.reading.raw import for_terminal

__all__ = ["command", "write_raw"]

_ASIDE_CHARACTERS = 100
_COLOURS = {"person": "green", "agent": "cyan", "tool": "yellow"}


@click.command(
    epilog=examples(
        "collectord show latest",
        "collectord show 0438c73b --stream agent-a1f --full",
        "collectord show 0438c73b --json | jq -c .parts[]",
    )
)
@click.argument("session", metavar="SESSION")
@click.option("--stream", metavar="ID", help="This stream: main, or a child's id.")
@click.option("--all", "every", is_flag=True, help="All streams, one after the other.")
@click.option("--full", is_flag=True, help="Long texts whole, with everything that was kept.")
@click.option("--header", is_flag=True, help="With --json: the files' headers, too.")
@common_options
def command(
    settings: Settings, session: str, stream: str | None, every: bool, full: bool, header: bool
) -> None:
    """
    Show SESSION: its id, the beginning of it, or 'latest'.

    The main stream is shown unless --stream or --all says otherwise. With --json, every
    record of the session as it landed, or only those of --stream.
    """
    found = find_session(settings.root, session)
    if settings.json:
        only = find_stream(found, stream).id if stream else ""
        for piece in landed_bytes(found, stream=only, headers=header):
            write_raw(piece)
        return
    there = streams(found)
    chosen = there if every else there[:1]
    if stream:
        chosen = [find_stream(found, stream)]
    if not chosen:
        raise NothingFound(f"session {found.id} in {found.folder} has no transcript yet")
    _introduce(found)
    for number, one in enumerate(chosen):
        if number or len(chosen) > 1 or one.id != "main":
            console.write(_styled(f"stream {inline(one.id)}", bold=True) + "\n")
        was_aside = False
        for entry in conversation(one):
            is_aside = not full and all(part.k == "data" for part in entry.record.parts)
            if was_aside and not is_aside:
                console.write()
            (_write_aside if is_aside else _write)(entry, full=full)
            was_aside = is_aside
    if len(there) > len(chosen) and not settings.quiet:
        rest = [one.id for one in there if one not in chosen]
        names = ", ".join(rest[:5]) + (f" and {len(rest) - 5} more" if len(rest) > 5 else "")
        console.write_note(f"Other streams (--stream ID, --all): {names}")


def write_raw(piece: bytes) -> None:
    """Write landed bytes as they are; on a terminal, without what it would obey."""
    if console.is_terminal():
        sys.stdout.write(for_terminal(piece))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(piece)


def _introduce(session: Session) -> None:
    facts = [session.id, session.header.dialect, session.label]
    shown = "  ".join(inline(fact) for fact in facts if fact)
    console.write(_styled(shown, bold=True) + "\n")


def _write_aside(entry: Entry, *, full: bool) -> None:
    """Write a record that holds no content, only structure, in one line."""
    del full
    record = entry.record
    when = console.human_time(record.time) if record.time else ""
    content = one_line(entry.line, characters=_ASIDE_CHARACTERS)
    console.write(_styled("  ".join(filter(None, (who(record), inline(when), content))), dim=True))


def _write(entry: Entry, *, full: bool) -> None:
    record = entry.record
    sender = who(record)
    facts = [
        console.human_time(record.time) if record.time else "",
        record.model,
        " ".join(record.flags),
    ]
    if full:
        facts.append(f"{entry.path.name} ord {record.ord}")
    shown = "  ".join(inline(fact) for fact in facts if fact)
    heading = [_styled(sender, fg=_COLOURS.get(sender), bold=True), _styled(shown, dim=True)]
    console.write("  ".join(filter(None, heading)))
    for block in blocks(entry.line, full=full):
        indent = "  "
        if block.title:
            console.write(indent + _styled(block.title, bold=True))
            indent = "    "
        for line in block.text.split("\n") if block.text else ():
            console.write((indent + line).rstrip())
        if block.note:
            console.write(indent + _styled(f"({block.note})", dim=True))
    console.write()


def _styled(text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    if not console.uses_colour() or not text:
        return text
    return click.style(text, fg=fg, bold=bold or None, dim=dim or None)
