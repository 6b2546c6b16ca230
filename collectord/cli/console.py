"""
What people and programs are shown: text, tables, JSON lines, errors.

Colour, boxes and progress bars appear on a terminal only; a pipe gets plain text, with
the same words. Standard output carries results, standard error everything else. What
comes from an agent's files may hold control characters, and a terminal obeys them, so
`printable` takes them out of whatever a person sees.
"""

import datetime as dt
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from collectord.errors import CollectordError

__all__ = [
    "OutputFailed",
    "ReaderGone",
    "counted",
    "human_age",
    "human_bytes",
    "human_time",
    "is_terminal",
    "json_line",
    "printable",
    "uses_colour",
    "write",
    "write_error",
    "write_json",
    "write_note",
    "write_table",
    "write_warning",
]


class ReaderGone(BrokenPipeError):
    """Nobody reads standard output any more: no error, but the end of the run."""


class OutputFailed(CollectordError):
    """Standard output takes nothing more."""

    exit_code = 74

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror or error}")


UNPRINTABLE: Final = {
    code: f"\\x{code:02x}" for code in [*range(32), *range(0x7F, 0xA0)] if chr(code) not in "\t\n"
}


def is_terminal() -> bool:
    """Return whether results go to a terminal."""
    return sys.stdout.isatty()


def uses_colour() -> bool:
    """Return whether results may be coloured: on a terminal, unless NO_COLOR is set."""
    return is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write(text: str = "") -> None:
    """
    Write a line to standard output.

    Raises:
        ReaderGone: Nobody reads any more; the frame ends the run in silence.
        OutputFailed: It cannot be written, because the disk is full for instance.
    """
    try:
        sys.stdout.write(text + "\n")
        if is_terminal():
            sys.stdout.flush()
    except BrokenPipeError as error:
        raise ReaderGone(*error.args) from error
    except OSError as error:
        raise OutputFailed(error) from error


def write_json(value: Any) -> None:
    """Write *value* as one line of JSON; what JSON does not know becomes a string."""
    write(json_line(value))


def json_line(value: Any) -> str:
    """Return *value* as JSON in one line, without a newline."""
    import orjson

    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z
    try:
        return orjson.dumps(value, default=_as_json, option=options).decode()
    except orjson.JSONEncodeError:
        # A file name that is not UTF-8 holds surrogates, which no strict JSON carries.
        import json

        text = json.dumps(value, default=_as_json, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace").decode()


def write_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Collection[str] = ()
) -> None:
    """
    Write *rows* under *columns*, those in *right* aligned to the right.

    On a terminal the table is fitted to its width; in a pipe nothing is cut or coloured.
    """
    cells = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    if is_terminal():
        _write_rich(columns, cells, right)
        return
    widths = [
        max(len(column), *(len(row[i]) for row in cells)) if cells else len(column)
        for i, column in enumerate(columns)
    ]
    for row in [[column.upper() for column in columns], *cells]:
        aligned = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        write("  ".join(aligned).rstrip())


def write_note(text: str) -> None:
    """Say something that is no result, on standard error: progress, an empty answer."""
    _to_stderr(text)


def write_warning(text: str) -> None:
    """Say on standard error that something is not as it should be."""
    _to_stderr(f"collectord: warning: {text}")


def write_error(text: str, hint: str = "") -> None:
    """Say what went wrong, each line of *text* as one sentence, and what a person can do."""
    for line in text.splitlines() or [""]:
        _to_stderr(f"collectord: {line}")
    if hint:
        _to_stderr(f"  {hint}")


def printable(text: str) -> str:
    """Return *text* with its control characters made visible; tabs and newlines stay."""
    return text.translate(UNPRINTABLE)


def counted(count: int, thing: str) -> str:
    """Return *count* and its noun for a person: ``1 record``, ``2,048 records``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def human_bytes(size: int) -> str:
    """Return *size* (bytes) for a person: ``181 B``, ``1.4 MiB``."""
    if abs(size) < 1024:
        return f"{size} B"
    amount = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        amount /= 1024
        # 1023.95 would be written as 1024.0 of the smaller unit.
        if abs(amount) < 1023.95 or unit == "TiB":
            break
    return f"{amount:.1f} {unit}"


def human_time(moment: dt.datetime | float | str | None) -> str:
    """
    Return *moment* in local time, to the second: ``2026-09-01 14:56:03``.

    Args:
        moment: An aware datetime, seconds since 1970, or RFC 3339 as a runtime wrote it;
            None and an empty string give a dash, an unreadable string itself.
    """
    when = _moment(moment)
    if when is None:
        return printable(moment) if isinstance(moment, str) and moment else "-"
    return when.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def human_age(moment: dt.datetime | float | str | None, *, now: dt.datetime | None = None) -> str:
    """Return how long ago *moment* was: ``just now``, ``12 s ago``, ``3 min ago``, ``5 days ago``."""
    when = _moment(moment)
    if when is None:
        return "-"
    seconds = ((now or dt.datetime.now(dt.UTC)) - when).total_seconds()
    if seconds < 2:
        return "just now" if seconds > -60 else "in the future"
    for unit, length, limit in (("s", 1, 60), ("min", 60, 60), ("h", 3600, 48)):
        if seconds < length * limit:
            return f"{int(seconds // length)} {unit} ago"
    return f"{int(seconds // 86400)} days ago"


def _moment(moment: dt.datetime | float | str | None) -> dt.datetime | None:
    try:
        if isinstance(moment, str):
            moment = dt.datetime.fromisoformat(moment)
        elif isinstance(moment, int | float):
            moment = dt.datetime.fromtimestamp(moment, dt.UTC)
    except (ValueError, OverflowError, OSError):
        return None
    if moment is not None and moment.tzinfo is None:
        return moment.replace(tzinfo=dt.UTC)
    return moment


def _as_json(value: Any) -> Any:
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    return dict(value) if hasattr(value, "keys") else str(value)


def _to_stderr(text: str) -> None:
    try:
        sys.stderr.write(printable(text) + "\n")
        sys.stderr.flush()
    except OSError:
        # Nobody listens; the exit code still tells.
        return


def _write_rich(
    columns: Sequence[str], cells: Iterable[Sequence[str]], right: Collection[str]
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold" if uses_colour() else "")
    for column in columns:
        table.add_column(
            column, justify="right" if column in right else "left", overflow="fold", no_wrap=False
        )
    for row in cells:
        table.add_row(*map(Text, row))
    Console(no_color=not uses_colour(), highlight=False).print(table)
