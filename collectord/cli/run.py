"""``collectord run``: the daemon in the foreground."""

import signal
import sys
from pathlib import Path

import click

from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.cli.surroundings import look_less_for_cycles, places, surroundings_of
from collectord.daemon import run

__all__ = ["command"]


@click.command(
    epilog=examples(
        "collectord run                           collect until Ctrl-C",
        "collectord run --root /srv/sessions      into another landing root",
        "collectord run ~/work/.claude            only this folder",
    )
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@common_options
def command(settings: Settings, paths: tuple[Path, ...]) -> None:
    """
    Collect sessions as they happen, until stopped.

    Watches the places where the agents keep their sessions (or only the PATHs), and
    lands each record within moments. Ctrl-C or SIGTERM seals what is open and ends it.
    """
    settings.configure_logs()
    surroundings = surroundings_of(settings, paths)
    look_less_for_cycles()
    if sys.stderr.isatty() and not settings.quiet:
        console.write_note(f"Landing in {settings.root}. Ctrl-C ends it.")
        for title, path in [] if paths else places(surroundings):
            state = "" if path.is_dir() else " (not there yet: waiting for it)"
            console.write_note(f"  {title}: {path}{state}")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until the daemon listens itself, Ctrl-C ends it as SIGTERM does: no state is lost by that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    run(surroundings)
