"""
The frame of the command line: the table of commands, and how a run ends.

The table carries each command's one line of help, so that ``--help`` and ``--version``
import no command and none of the libraries behind it. However a run ends, a person reads
one sentence and a script gets an exit code of ``sysexits.h``; a trace is shown only to
who asks for it.
"""

import difflib
import errno
import importlib
import importlib.util
import io
import os
import select
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import click

from collectord import __version__
from collectord.cli import console
from collectord.cli.settings import DEBUG_VARIABLE, Settings, common_options, examples
from collectord.errors import CollectordError

__all__ = ["COMMANDS", "collectord", "execute"]

REPORT_AT: Final = "https://github.com/collectord/collectord/issues"

EXIT_USAGE: Final = 64
EXIT_BUG: Final = 70
EXIT_IO: Final = 74
EXIT_PERMISSION: Final = 77
EXIT_INTERRUPTED: Final = 130


class Entry(NamedTuple):
    """Where a command is, and what it is for."""

    module: str
    help: str


COMMANDS: Final[Mapping[str, Entry]] = MappingProxyType(
    {
        "run": Entry("collectord.cli.run", "Collect as sessions happen, until stopped."),
        "collect": Entry("collectord.cli.collect", "Collect what is there, once, then exit."),
        "demo": Entry("collectord.cli.demo", "Play a sample session, collected and followed."),
        "sources": Entry("collectord.cli.sources", "List the files that agents write, as found."),
        "sessions": Entry("collectord.cli.sessions", "List the sessions that were collected."),
        "show": Entry("collectord.cli.show", "Show one session."),
        "tail": Entry("collectord.cli.tail", "Show the newest records, and follow them."),
        "verify": Entry("collectord.cli.verify", "Check every file, number and digest."),
        "status": Entry("collectord.cli.status", "Say what the daemon does, and what waits."),
        "config": Entry("collectord.cli.config", "Show, check or begin the configuration."),
        "adapters": Entry("collectord.cli.adapters", "List the agents that can be collected."),
    }
)
"""Every command, in the order in which a person meets them."""


class CommandTable(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands whose module is installed."""
        return [name for name, entry in COMMANDS.items() if importlib.util.find_spec(entry.module)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command called *cmd_name*; from then on Ctrl-C is heard."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name].module).command
        command.name = cmd_name
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a wrong name is answered with the nearest one."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], known, n=1)
            more = f"; did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"there is no command {args[0]!r}{more}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].help) for name in self.list_commands(ctx)])


@click.group(
    cls=CommandTable,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "collectord demo                 see it work, in a minute",
        "collectord run                  collect until Ctrl-C",
        "collectord sessions --json      one object a line",
    ),
)
@click.version_option(__version__, message="collectord %(version)s")
@common_options
def collectord(settings: Settings) -> None:
    """Collect what coding agents write to disk, each record exactly once."""
    del settings
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        console.write(context.get_help())


def execute(arguments: Sequence[str]) -> int:
    """Run *arguments* and return the exit code; every error has been said."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Closed by the caller (>&-): what nobody wants is written nowhere.
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show is no reason to stop.
            stream.reconfigure(errors="backslashreplace")
    settings = Settings()
    try:
        if instruction := os.environ.get("_COLLECTORD_COMPLETE"):
            from click.shell_completion import shell_complete

            return shell_complete(collectord, {}, "collectord", "_COLLECTORD_COMPLETE", instruction)
        with collectord.make_context("collectord", list(arguments), obj=settings) as context:
            collectord.invoke(context)
            context.exit()
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    except BaseException as error:  # noqa: BLE001  # the last place where it can be said
        code = _ended_by(error, settings)
    return _flushed(code)


def _ended_by(error: BaseException, settings: Settings) -> int:
    """Say what *error* means to a person, and return the exit code."""
    causes = list(_leaves(error))
    for cause in causes:
        if isinstance(cause, SystemExit):
            raise cause
    if any(isinstance(cause, console.ReaderGone) for cause in causes):
        return 0
    if any(isinstance(cause, BrokenPipeError) for cause in causes) and _reader_is_gone():
        # click writes help texts itself.
        return 0
    if any(isinstance(cause, KeyboardInterrupt | click.Abort) for cause in causes):
        if sys.stderr.isatty():
            sys.stderr.write("\n")
        return EXIT_INTERRUPTED
    if settings.shows_traces and not isinstance(error, click.UsageError):
        traceback.print_exception(error)
    codes = [_said(cause) for cause in causes]
    # A bug says more than what it broke.
    return EXIT_BUG if EXIT_BUG in codes else codes[0]


def _said(error: BaseException) -> int:
    if isinstance(error, CollectordError):
        console.write_error(str(error), error.hint)
        return error.exit_code
    if isinstance(error, click.ClickException):
        named = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        hint = f"See '{named or 'collectord'} --help'."
        message = error.format_message().strip().replace(". Did you mean", "; did you mean")
        console.write_error(message[:1].lower() + message[1:], hint)
        return EXIT_USAGE
    if isinstance(error, OSError) and error.strerror:
        place = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        console.write_error(
            place + error.strerror, f"Add -vv to see where (or {DEBUG_VARIABLE}=1)."
        )
        return EXIT_PERMISSION if error.errno in {errno.EACCES, errno.EPERM} else EXIT_IO
    console.write_error(
        f"this is a bug in collectord {__version__}: an unexpected {type(error).__name__}",
        f"Please report it at {REPORT_AT}; -vv (or {DEBUG_VARIABLE}=1) shows the trace.",
    )
    return EXIT_BUG


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Take apart what a task group raised."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _flushed(code: int) -> int:
    """Write out what is still held back; a closed pipe is no error, a full disk is."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _point_stdout_nowhere()
    except OSError as error:
        _point_stdout_nowhere()
        failed = console.OutputFailed(error)
        if code == 0:
            console.write_error(str(failed))
        return code or failed.exit_code
    except ValueError:
        # Closed by whoever called us.
        return code
    return code


def _reader_is_gone() -> bool:
    """Return whether standard output is a pipe that nobody reads any more."""
    if not hasattr(select, "poll"):
        return True
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), select.POLLOUT)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError):
        return False


def _point_stdout_nowhere() -> None:
    """Keep the interpreter from flushing into a closed pipe when it ends."""
    try:
        nowhere: Any = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return
