"""
Logging: structlog, and the closed vocabulary of events.

An event is ``noun.past_participle`` and its values are fields beside it, so that a line
can be counted and searched; `EVENTS` is the whole list, and a test holds the code
against it. Nothing of a conversation is ever a field: paths, numbers and reasons only.
JSON, one object a line, when standard error is not a terminal; coloured text when it is.

Source: docs/configuration.md, "What is logged".
"""

import logging
import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, TextIO

import orjson
import structlog

__all__ = ["EVENTS", "configure"]

EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "source.found": "A source that was not known before.",
        "source.rewritten": "The bytes behind the cursor changed; a new generation starts.",
        "source.moved": "A known source under a new path.",
        "source.gone": "A source is no longer there; its cursor stays.",
        "source.refused": "A path that is never read: not a regular file, or no name to land under.",
        "source.unidentified": "Its first records do not tell the session yet; nothing of it lands.",
        "source.failed": "A source could not be read or converted; the others go on.",
        "file.opened": "A new file of a session was begun.",
        "file.sealed": "A file of a session was closed for good.",
        "file.recovered": "An open file was brought back to its last whole record.",
        "file.missing": "A sealed file that was known is no longer there.",
        "record.unknown": "A dialect met something that it does not describe, and kept its bytes.",
        "session.stopped": "A session is not written to until a person has looked.",
        "watch.started": "A root is watched.",
        "watch.stopped": "A root is no longer watched.",
        "watch.overflow": "The operating system lost events; a rescan follows.",
        "watch.degraded": "Events do not arrive here; the root is polled instead.",
        "state.failed": "The state store could not be written; it is a cache, and collecting goes on.",
        "state.recovered": "The state store was rebuilt from the landing root and the sources.",
        "plugin.refused": "An adapter plug-in is broken; the others go on.",
        "config.warned": "The configuration holds something that is not used.",
        "daemon.started": "The daemon began, with this version and landing root.",
        "daemon.ready": "What was left open is recovered, and every root is watched.",
        "daemon.stopping": "A signal or a request ends the daemon; open files are sealed.",
        "daemon.stopped": "The daemon has ended, and every file is whole.",
    }
)
"""Each event with its meaning; the table in the docs is the same."""


def configure(level: str = "info", format: str = "auto", *, stream: TextIO | None = None) -> None:
    """
    Set up structlog for this process; the second call replaces the first.

    Args:
        level: The least important level that is shown: debug, info, warning or error.
        format: ``json``, ``text``, or ``auto`` for text on a terminal and JSON elsewhere.
        stream: Where the lines go; default is the process's standard error.
    """
    out = stream or sys.stderr
    on_terminal = out.isatty()
    as_json = format == "json" or (format == "auto" and not on_terminal)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if as_json:
        tail: list[Any] = [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(_dumps),
        ]
    else:
        colours = on_terminal and not os.environ.get("NO_COLOR")
        tail = [structlog.dev.ConsoleRenderer(colors=colours, pad_event_to=20)]
    structlog.configure(
        processors=[*shared, *tail],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=False,
    )


def _dumps(event: Any, **_: Any) -> str:
    return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
