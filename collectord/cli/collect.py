"""``collectord collect``: one pass over everything there is, then exit."""

import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from collectord import logs
from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.cli.surroundings import (
    keep_freed_memory,
    look_less_for_cycles,
    surroundings_of,
    where_looked,
)
from collectord.errors import CollectordError
from collectord.pipeline import Summary, assemble, collect_once

__all__ = ["command"]

_SHOWN = 10
"""How many failures are named on a terminal; ``--json`` has all."""


@click.command(
    epilog=examples(
        "collectord collect                       everything found on this machine",
        "collectord collect ~/backup/.claude      a folder laid out like an agent's",
        "collectord collect --final old.jsonl     also a last line without its newline",
    )
)
@click.option("--final", is_flag=True, help="The sources are finished: take unfinished last lines.")
@click.option("--or-demo", is_flag=True, help="Where no session is found, play the demo instead.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@common_options
def command(settings: Settings, paths: tuple[Path, ...], final: bool, or_demo: bool) -> None:
    """
    Collect what is there, once, then exit.

    Without a PATH, the places where the agents keep their sessions. What was collected
    before and has not changed is not opened again.
    """
    _configure_logs(settings)
    surroundings = surroundings_of(settings, paths)
    look_less_for_cycles()
    keep_freed_memory()
    with assemble(surroundings, gather=True) as assembly, _progress(settings) as bar:
        summary = collect_once(assembly, final=final, found=bar.found, progress=bar.advance)
        root = assembly.root.path
    if or_demo and not summary.sources:
        from collectord.cli.demo import perform

        if not settings.json:
            console.write(f"No sessions found: {where_looked(surroundings)}.\n")
        perform(settings)
        return
    if settings.json:
        console.write_json(_as_json(summary, root))
    elif not settings.quiet:
        _say(summary, root, where_looked(surroundings))
    if summary.failures:
        _fail(summary)


def _configure_logs(settings: Settings) -> None:
    """Show warnings only, unless more or less was asked for: the summary says the rest."""
    log = settings.config.log
    asked = settings.verbose or settings.quiet
    logs.configure(log.level if asked else "warning", log.format)


class _Progress:
    """A progress bar on a terminal, silence elsewhere."""

    def __init__(self, shown: bool) -> None:
        self._bar: Any = None
        self._task: Any = None
        if shown:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            self._bar = Progress(
                TextColumn("Collecting"),
                BarColumn(),
                DownloadColumn(),
                TextColumn("{task.fields[sources]} sources"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )

    def found(self, sources: int, size: int) -> None:
        if self._bar is not None:
            self._task = self._bar.add_task("", total=size, sources=sources)

    def advance(self, _sources: int, size: int) -> None:
        if self._bar is not None:
            self._bar.advance(self._task, size)

    def __enter__(self) -> "_Progress":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _progress(settings: Settings) -> _Progress:
    return _Progress(sys.stderr.isatty() and not settings.json and not settings.quiet)


def _say(summary: Summary, root: Path, looked: str) -> None:
    if not summary.sources:
        console.write(f"No sessions found: {looked}.")
        console.write("'collectord demo' shows with a sample session what would happen.")
        return
    if summary.records:
        console.write(
            f"{console.counted(summary.records, 'record')}"
            f" of {console.counted(len(summary.sessions), 'session')}"
            f" ({console.human_bytes(summary.bytes)} in {summary.opened:,} of"
            f" {console.counted(summary.sources, 'source')})"
            f" landed in {root} in {summary.seconds:.1f} s."
        )
    else:
        console.write(
            f"Nothing new in {console.counted(summary.sources, 'source')}; everything is in {root}."
        )
    if summary.pending:
        console.write(
            f"{console.counted(summary.pending, 'source')} still in the middle of a"
            " line, which lands when it is whole (or with --final)."
        )
    for refused in summary.refused[:_SHOWN]:
        console.write(console.printable(f"Not collected: {refused.src}: {refused.reason}"))
    if len(summary.refused) > _SHOWN:
        console.write(f"Not collected: {len(summary.refused) - _SHOWN:,} more, see --json.")
    if summary.records:
        console.write("Next: collectord sessions")


def _as_json(summary: Summary, root: Path) -> dict[str, Any]:
    return {
        "root": str(root),
        "sources": summary.sources,
        "opened": summary.opened,
        "records": summary.records,
        "bytes": summary.bytes,
        "sessions": sorted(summary.sessions),
        "pending": summary.pending,
        "unknown_members": summary.unknown_members,
        "refused": [{"src": each.src, "reason": each.reason} for each in summary.refused],
        "failures": [{"src": each.src, "reason": each.reason} for each in summary.failures],
        "seconds": round(summary.seconds, 3),
    }


def _fail(summary: Summary) -> NoReturn:
    shown = [
        f"{each.src}: {each.reason}" if each.src else each.reason
        for each in summary.failures[:_SHOWN]
    ]
    more = len(summary.failures) - len(shown)
    if more:
        shown.append(f"… and {more:,} more")
    raise _Failed("\n".join(map(console.printable, shown)))


class _Failed(CollectordError):
    """Some sources could not be collected; the others were."""

    exit_code = 75
    hint = "What could be collected was; run it again when the cause is gone: nothing lands twice."
