"""
``collectord demo``: a sample session, written, collected and followed before one's eyes.

What a person without any agent sees first. It uses nothing of theirs and leaves nothing
behind; what it says at the end was measured and compared in that very run.
"""

import contextlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

import click

from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.demo import Event, Half, Performance, Recorded, Report
from collectord.errors import CollectordError
from collectord.reading.display import one_line, visible, who
from collectord.sessiondata import Line

__all__ = ["command", "perform"]

_FAST: Final = 20.0
_COLOURS: Final = {"person": "bold", "agent": "green", "tool": "yellow", "runtime": "dim"}

_OPENING: Final = """\
A coding session, invented for this, is written to a temporary folder the way an agent
writes: a line at a time, now and then only half of one. The real daemon collects it.
Each line below was read from the landing root, as soon as it could be read there.
"""


class DemoFailed(CollectordError):
    """The demo did not show what it is there to show."""

    exit_code = 70


@click.command(
    epilog=examples(
        "collectord demo",
        "collectord demo --keep /tmp/demo         and look around in it afterwards",
    )
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Play it in DIR (new or empty), and leave everything there.",
)
@click.option(
    "--speed",
    type=click.FloatRange(0.1, 1000.0),
    default=1.0,
    metavar="N",
    help="N times as fast.",
)
@click.option("--fast", "speed", flag_value=_FAST, type=float, help="Without the pauses.")
@common_options
def command(settings: Settings, keep: Path | None, speed: float) -> None:
    """
    Play a sample session, collected and followed.

    Needs no agent, touches no session of yours, takes about 15 seconds and cleans up
    after itself.
    """
    if settings.root_flag is not None or settings.state_dir_flag is not None:
        raise click.UsageError("the demo has a landing root of its own; --keep DIR keeps it")
    perform(settings, keep=keep, speed=speed)


def perform(settings: Settings, *, keep: Path | None = None, speed: float = 1.0) -> None:
    """
    Play the demo and say how it went.

    Raises:
        CollectordError: The daemon failed, or not every record landed once.
        OSError: The folder cannot be written.
    """
    screen = _Screen(shown=not settings.json and not settings.quiet)
    with _ended_in_order(), _stage(keep) as folder:
        performance = Performance(folder, speed=speed)
        screen.open()
        with contextlib.closing(performance.events()) as events:
            for event in events:
                screen.show(event)
        report = performance.report()
        if settings.json:
            console.write_json(_as_json(report, kept=keep is not None))
        else:
            screen.close(report, keep)
    if report.missing or report.twice:
        raise DemoFailed(f"{report.missing} lines did not land, {report.twice} landed twice")


class _Screen:
    """What a person sees: coloured and cut to the width on a terminal, plain in a pipe."""

    def __init__(self, *, shown: bool) -> None:
        from rich.console import Console

        self._shown = shown
        self._console = Console(
            no_color=not console.uses_colour(),
            highlight=False,
            soft_wrap=True,
            force_terminal=console.is_terminal(),
        )
        self._seconds = 0.0
        self._streams: dict[str, str] = {}
        """The stream that each file of the agent was seen to be."""

    def open(self) -> None:
        """Say what is about to happen."""
        if self._shown:
            self._line("collectord demo", "bold")
            self._line(_OPENING)

    def show(self, event: Event) -> None:
        """Show what happened."""
        if not self._shown:
            return
        if isinstance(event, Recorded):
            self._seconds = event.at_s
            self._record(event)
        elif isinstance(event, Half):
            stream = self._streams.get(event.to.rpartition("/")[2], "")
            text = f"… {event.bytes} bytes, in the middle of a line: no record yet"
            self._row(self._seconds, "", stream, "", text, "dim")

    def close(self, report: Report, keep: Path | None) -> None:
        """Say what landed where, how fast, and what to type next."""
        if self._shown:
            self._line()
        self._line(
            f"{report.written} lines written, {report.records} records landed:"
            f" {report.missing or 'none'} missing, {report.twice or 'none'} twice.",
            "bold",
        )
        self._line(
            f"From written to readable: {_milliseconds(report.median_s)} (median),"
            f" {_milliseconds(max(report.latencies_s))} (slowest)."
        )
        self._line()
        self._line(
            f"In {report.root}:"
            if keep is not None
            else "What it left in its temporary landing root (--keep DIR keeps it):"
        )
        for file in report.files:
            self._line(
                f"  {file.path}  {console.counted(file.records, 'record')},"
                f" {console.human_bytes(file.bytes)}"
            )
        self._line()
        self._line("One record, as it stands in its file:")
        self._json(report.sample.decode())
        self._line()
        self._next(report, keep)

    def _record(self, event: Recorded) -> None:
        header, record, _, start, stop, _ = event.landed
        sender = who(record)
        stream = (header.stream or header.kind)[:8]
        self._streams[header.src.rpartition("/")[2]] = stream
        self._row(
            event.at_s,
            _milliseconds(event.latency_s),
            stream,
            sender,
            one_line(Line(0, start, stop, record)),
            _COLOURS.get(sender, ""),
        )

    def _row(
        self, at_s: float, latency: str, stream: str, sender: str, text: str, style: str
    ) -> None:
        from rich.text import Text

        row = Text()
        row.append(f"{at_s:5.1f} s {latency:>7}  ", "dim")
        row.append(f"{visible(stream):<9}", "cyan" if stream == "main" else "magenta")
        row.append(f"{sender:<8} ", style)
        row.append(" ".join(visible(text).split()), style)
        if console.is_terminal():
            row.truncate(self._console.width, overflow="ellipsis")
        self._write(row)

    def _json(self, text: str) -> None:
        from rich.highlighter import JSONHighlighter

        self._write(JSONHighlighter()(visible(text)))

    def _next(self, report: Report, keep: Path | None) -> None:
        typed = _typed()
        at = f" --root {report.root}" if keep is not None else ""
        rows = [
            ("collect", "land the sessions that are on this machine"),
            ("run", "land what your agents write from now on, as they write it"),
            ("--help", "everything else"),
        ]
        if keep is not None:
            rows[:0] = [
                (f"show latest{at}", "this session, as a conversation"),
                (f"verify{at}", "check every file, number and digest of it"),
            ]
        width = max(len(words) for words, _ in rows)
        self._line("Next:")
        for words, meaning in rows:
            self._line(f"  {typed} {words:<{width}}   {meaning}")

    def _line(self, text: str = "", style: str = "") -> None:
        from rich.text import Text

        self._write(Text(text, style))

    def _write(self, what: Any) -> None:
        with self._console.capture() as capture:
            self._console.print(what)
        console.write(capture.get().removesuffix("\n"))


@contextlib.contextmanager
def _stage(keep: Path | None) -> Iterator[Path]:
    """Give a folder to play in; a temporary one goes away however the block ends."""
    if keep is not None:
        folder = keep.expanduser().absolute()
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise click.UsageError(f"{folder} is not empty; --keep wants a new or empty folder")
        yield folder
        return
    folder = Path(tempfile.mkdtemp(prefix="collectord-demo-")).resolve()
    try:
        yield folder
    finally:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let a request to end, or a closed terminal, unwind as Ctrl-C does."""

    def end(number: int, _: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    asked = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = [signal.signal(number, end) for number in asked]
    try:
        yield
    finally:
        for number, handler in zip(asked, before, strict=True):
            signal.signal(number, handler)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.0095 else f"{seconds * 1000:.1f} ms"


def _typed() -> str:
    """Return how this program is called from where the person stands."""
    called = sys.argv[0]
    if shutil.which("collectord") or Path(called).name != "collectord":
        return "collectord"
    return called


def _as_json(report: Report, *, kept: bool) -> dict[str, Any]:
    return {
        "session": report.session,
        "root": str(report.root) if kept else None,
        "written": report.written,
        "records": report.records,
        "missing": report.missing,
        "twice": report.twice,
        "files": [
            {
                "path": file.path.as_posix(),
                "kind": file.kind,
                "stream": file.stream,
                "records": file.records,
                "bytes": file.bytes,
            }
            for file in report.files
        ],
        "latency_ms": {
            "median": round(report.median_s * 1000, 2),
            "max": round(max(report.latencies_s) * 1000, 2),
        },
        "seconds": round(report.seconds, 2),
    }
