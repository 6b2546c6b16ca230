"""
``collectord verify``: every file, every record, every number, and one digest a session.

Nothing is changed. It may run beside the daemon: a write in progress is no fault.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterable
from typing import Any

import click

from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.errors import NothingFound
from collectord.reading import Finding, Verification, digest_of, find_session

__all__ = ["command"]

_EXIT_FINDINGS = 65
_AUDIT = "collectord.audit"


def _with_audit(function: Callable[..., None]) -> Callable[..., None]:
    """Offer ``--against-sources`` where the floor above, which reads sources, is installed."""
    if importlib.util.find_spec(_AUDIT) is None:
        return function
    return click.option(
        "--against-sources",
        is_flag=True,
        help="Compare every record with its source, while that exists.",
    )(function)


@click.command(
    epilog=examples(
        "collectord verify",
        "collectord verify latest",
        "collectord verify --digest 0438c73b",
    )
)
@click.argument("session", metavar="[SESSION]", required=False)
@click.option("--digest", metavar="SESSION", help="Print one SHA-256 over all files of SESSION.")
@_with_audit
@common_options
def command(
    settings: Settings, session: str | None, digest: str | None, against_sources: bool = False
) -> None:
    """
    Check every file of SESSION, or of all sessions, without changing anything.

    Names against headers, every record, the numbers without a gap, permissions, closing
    lines. Exit code 65 when there is something to act on.
    """
    if digest is not None:
        _write_digest(settings, digest)
        return
    root = settings.root
    folder = find_session(root, session).folder if session else None
    if not root.is_dir():
        raise NothingFound(f"{root}: there is no landing root")
    checked = Verification(root, folder)
    _write_findings(settings, checked)
    faults = checked.faults
    if settings.json:
        console.write_json(
            {
                "kind": "summary",
                "sessions": checked.sessions,
                "files": checked.files,
                "records": checked.records,
                "bytes": checked.bytes,
                "faults": checked.faults,
                "notes": checked.notes,
            }
        )
    elif not checked.sessions:
        console.write_note(f"No session in {root}: nothing has landed there yet.")
    else:
        result = f"{faults} to act on" if faults else "nothing to act on"
        console.write(
            f"{checked.sessions:,} sessions, {checked.files:,} files, {checked.records:,} records,"
            f" {console.human_bytes(checked.bytes)}: {result}, {checked.notes} notes."
        )
    if against_sources:
        audit: Any = importlib.import_module(_AUDIT)
        faults += audit.against_sources(settings, folder)
    if faults:
        click.get_current_context().exit(_EXIT_FINDINGS)


def _write_findings(settings: Settings, findings: Iterable[Finding]) -> None:
    for finding in findings:
        if settings.json:
            console.write_json(
                {
                    "kind": finding.kind.value,
                    "fault": finding.is_fault,
                    "path": str(finding.path),
                    **({"line": finding.line} if finding.line else {}),
                    "text": finding.text,
                }
            )
        elif finding.is_fault:
            console.write(console.printable(str(finding)))
        elif not settings.quiet:
            console.write(console.printable(f"{finding}  (note)"))


def _write_digest(settings: Settings, session: str) -> None:
    found = find_session(settings.root, session)
    digest = digest_of(found)
    if settings.json:
        console.write_json(
            {
                "session": found.id,
                "sha256": digest.sha256,
                "files": digest.files,
                "final": digest.is_final,
            }
        )
        return
    console.write(console.printable(f"{digest.sha256}  {found.id}"))
    if not digest.is_final and not settings.quiet:
        console.write_note("A file of it is still open: the digest changes as the session goes on.")
