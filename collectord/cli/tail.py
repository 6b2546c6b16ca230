"""
``collectord tail``: the newest records, and with ``-f`` those that land from now on.

It reads the landing root and nothing else, so it works without a daemon, on a copy, and
on a directory that a team shares.
"""

import select
import sys
import threading
from pathlib import Path

import click

from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.cli.show import write_raw
from collectord.reading import Follow, Landed, Problem, Session, find_session
from collectord.reading.display import inline, one_line, who
from collectord.reading.follow import INTERVAL_S
from collectord.reading.session import LATEST
from collectord.reading.timeline import landed_line
from collectord.sessiondata import Line, Range, encode

__all__ = ["command"]

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue")
_MOST_LINES = 10_000


@click.command(
    epilog=examples(
        "collectord tail -f                  every session, as it happens",
        "collectord tail latest -n 50",
        "collectord tail -f --json --header | your-program",
    )
)
@click.argument("session", metavar="[SESSION]", required=False)
@click.option("-f", "--follow", is_flag=True, help="Go on with what lands from now on.")
@click.option(
    "-n",
    "--last",
    type=click.IntRange(0, _MOST_LINES),
    default=10,
    show_default=True,
    metavar="N",
    help="How many of the newest records come first.",
)
@click.option("--header", is_flag=True, help="With --json: the header of each file, too.")
@common_options
def command(settings: Settings, session: str | None, follow: bool, last: int, header: bool) -> None:
    """
    Show the newest records of SESSION, a line each.

    Without SESSION those of the newest one, or with -f those of all of them. With --json
    each record is printed as it landed.
    """
    root = settings.root
    chosen: Session | None = None
    if session is not None or not follow:
        chosen = find_session(root, session or LATEST)
    following = Follow(root, chosen.folder if chosen else None, last=last, problem=_say_problem)
    shown = _Shown(as_json=settings.json, headers=header, one_session=chosen is not None)
    for landed in following.poll():
        shown.write(landed)
    if not follow:
        if not shown.records and last:
            console.write_note(f"No record in {chosen.folder if chosen else root} yet.")
        return
    if not shown.records and not settings.quiet:
        console.write_note(f"Following {chosen.id if chosen else root}; Ctrl-C ends.")
    _go_on(following, shown)


def _go_on(following: Follow, shown: "_Shown") -> None:
    stop = threading.Event()
    sys.stdout.flush()
    while not _nobody_reads():
        before = shown.records
        for landed in following.poll():
            shown.write(landed)
        if shown.records == before:
            stop.wait(INTERVAL_S)
        else:
            sys.stdout.flush()


class _Shown:
    """What was written so far."""

    def __init__(self, *, as_json: bool, headers: bool, one_session: bool) -> None:
        self.records = 0
        self._as_json = as_json
        self._headers = headers
        self._one_session = one_session
        self._path: Path | None = None

    def write(self, landed: Landed) -> None:
        """Write one record."""
        self.records += 1
        if not self._as_json:
            console.write(self._line(landed))
            return
        if self._headers and landed.path != self._path:
            self._path = landed.path
            write_raw(encode(landed.header))
        for piece in landed_line(landed.path, landed.start, landed.stop, landed.raw):
            write_raw(piece)

    def _line(self, landed: Landed) -> str:
        header, record = landed.header, landed.record
        label = header.stream or header.kind
        if not self._one_session:
            label = f"{header.session[:8]}/{label}"
        when = console.human_time(record.time) if record.time else ""
        where = inline(label)
        sender = who(record)
        is_long = Range(landed.start, landed.stop) if landed.raw is None else None
        line = Line(0, landed.start, landed.stop, record, is_long)
        content = one_line(line) or f"({', '.join(inline(part.k) for part in record.parts)})"
        if console.uses_colour():
            # A label keeps its colour, whatever else is shown.
            colour = _COLOURS[sum(label.encode()) % len(_COLOURS)]
            where, when = click.style(where, fg=colour), click.style(when, dim=True)
            sender = click.style(sender, bold=True)
        return " ".join(filter(None, (when, where, f"{sender}:", content)))


def _say_problem(problem: Problem) -> None:
    console.write_warning(f"{problem.path}: {problem.reason}; see 'collectord verify'")


def _nobody_reads() -> bool:
    """Return whether standard output is a pipe whose reader has gone, without writing to it."""
    if not hasattr(select, "poll"):
        return False
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)  # errors only, which are always reported
        return any(event & select.POLLERR for _, event in poll.poll(0))
    except (OSError, ValueError):
        return False
