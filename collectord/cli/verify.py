"""
``collectord verify``: every file, every record, every number, and one digest a session.

Nothing is changed. It may run beside the daemon: a write in progress is no fault.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import click

from collectord.cli import console
from collectord.cli.against_sources import write_audit
from collectord.cli.settings import Settings, common_options, examples
from collectord.errors import NothingFound
from collectord.reading import Finding, Verification, digest_of, find_session
from collectord.reading.display import inline

__all__ = ["command"]

_EXIT_FINDINGS = 65


@click.command(
    epilog=examples(
        "collectord verify",
        "collectord verify latest",
        "collectord verify --digest 0438c73b",
        "collectord verify --against-sources      also every record with its source",
    )
)
@click.argument("what", metavar="[SESSION | PATH …]", nargs=-1)
@click.option("--digest", metavar="SESSION", help="Print one SHA-256 over all files of SESSION.")
@click.option(
    "--against-sources",
    is_flag=True,
    help="Compare every record with its source, while that exists; below PATH only, if given.",
)
@common_options
def command(
    settings: Settings, what: tuple[str, ...], digest: str | None, against_sources: bool
) -> None:
    """
    Check every file of SESSION, or of all sessions, without changing anything.

    Names against headers, every record, the numbers without a gap, permissions, closing
    lines. With --against-sources also each record's digest and conversion, and the sums of
    where every byte of the sources is. Exit code 65 when there is something to act on.
    """
    if digest is not None:
        _write_digest(settings, digest)
        return
    paths = tuple(Path(each) for each in what if against_sources and _is_path(each))
    names = [each for each in what if not (against_sources and _is_path(each))]
    if len(names) > 1 or (names and paths):
        raise click.UsageError("one SESSION, or with --against-sources PATHs")
    root = settings.root
    folder = find_session(root, names[0]).folder if names else None
    if not root.is_dir():
        raise NothingFound(f"{root}: there is no landing root")
    faults = 0 if paths else _check_files(settings, folder)
    if against_sources:
        faults += write_audit(settings, folder, paths)
    if faults:
        click.get_current_context().exit(_EXIT_FINDINGS)


def _is_path(given: str) -> bool:
    """Whether *given* names a file or folder; a session's id holds no slash."""
    return os.sep in given or given.startswith("~") or Path(given).exists()


def _check_files(settings: Settings, folder: Path | None) -> int:
    """Check the files themselves and return the number of faults."""
    root = settings.root
    checked = Verification(root, folder)
    _write_findings(settings, checked)
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
        result = f"{checked.faults} to act on" if checked.faults else "nothing to act on"
        console.write(
            f"{console.counted(checked.sessions, 'session')},"
            f" {console.counted(checked.files, 'file')},"
            f" {console.counted(checked.records, 'record')},"
            f" {console.human_bytes(checked.bytes)}: {result},"
            f" {console.counted(checked.notes, 'note')}."
        )
    return checked.faults


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
            console.write(inline(str(finding)))
        elif not settings.quiet:
            console.write(inline(f"{finding}  (note)"))


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
    console.write(f"{digest.sha256}  {inline(found.id)}")
    if not digest.is_final and not settings.quiet:
        console.write_note("A file of it is still open: the digest changes as the session goes on.")
