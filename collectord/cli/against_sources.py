"""``collectord verify --against-sources``: what the audit found, for people and programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from collectord.cli import console
from collectord.cli.settings import Settings
from collectord.cli.surroundings import surroundings_of, where_looked
from collectord.reading.display import inline

if TYPE_CHECKING:
    from collectord.audit import Audit, AuditFinding, SourceAudit, Sums

__all__ = ["write_audit"]


def write_audit(settings: Settings, folder: Path | None, paths: tuple[Path, ...]) -> int:
    """
    Audit the sources (of one session's *folder*, or below *paths*); return the number of faults.

    Raises:
        NothingFound, ConfigError: See `collectord.pipeline.find_roots`.
    """
    from collectord.audit import against_sources

    surroundings = surroundings_of(settings, paths)
    audit = against_sources(surroundings, folder)
    for source in audit:
        _write_source(settings, source)
    if settings.json:
        _write_totals_json(audit)
    elif audit.sources or audit.gone:
        _write_totals(audit)
    else:
        looked = where_looked(surroundings)
        roots = [str(root.path) for root in audit.roots.all if str(root.path) not in looked]
        console.write(f"No sources found: {', '.join([looked, *roots])}.")
    return audit.faults


def _write_source(settings: Settings, source: "SourceAudit") -> None:
    if settings.json:
        console.write_json(
            {
                "kind": "source",
                "adapter": source.adapter,
                "src": source.src,
                "path": str(source.path),
                "source_kind": str(source.kind),
                "session": source.session,
                "records": source.records,
                "landed": source.landed,
                "compared": source.compared,
                **_sums(source.sums),
            }
        )
    for found in source.findings:
        _write_finding(settings, found)
    if source.unlisted and not settings.json:
        console.write(inline(f"{source.path}: and {source.unlisted:,} more to act on"))


def _write_finding(settings: Settings, found: "AuditFinding") -> None:
    if settings.json:
        console.write_json(
            {
                "kind": found.kind.value,
                "fault": found.is_fault,
                "path": str(found.path),
                **({"ord": found.ord} if found.ord else {}),
                "records": found.records,
                "text": found.text,
            }
        )
    elif found.is_fault:
        console.write(inline(str(found)))
    elif not settings.quiet:
        console.write(inline(f"{found}  (note)"))


def _write_totals(audit: "Audit") -> None:
    rows = [(agent, kind, sums) for (agent, kind), sums in sorted(audit.totals.items())]
    if len(rows) > 1:
        rows.append(("all", "", audit.total))
    figures = ["part", "role", "header", "trailing", "dropped", "unknown", "syntax", "pending"]
    console.write_table(
        ["agent", "kind", "bytes", *figures],
        [
            [agent, kind, f"{sums.size:,}", *(f"{n:,}" for n in (*sums.account, sums.pending))]
            for agent, kind, sums in rows
        ],
        right=["bytes", *figures],
    )
    difference = audit.total.difference
    if difference:
        console.write(
            f"The sums do not add up: {console.counted(difference, 'byte')} in none of them."
        )
    else:
        console.write("The sums add up to the sources' sizes.")
    gone = f" {console.counted(audit.gone, 'source')} no longer there." if audit.gone else ""
    unknown = f" Not known on this machine: {', '.join(sorted(audit.unknown))}."
    console.write(
        console.printable(
            f"{console.counted(audit.sources, 'source')},"
            f" {console.counted(audit.records, 'record')}:"
            f" {audit.landed:,} landed,"
            f" {audit.compared:,} converted again and compared,"
            f" {audit.faults or 'nothing'} to act on.{gone}{unknown if audit.unknown else ''}"
        )
    )


def _write_totals_json(audit: "Audit") -> None:
    for (agent, kind), sums in sorted(audit.totals.items()):
        console.write_json({"kind": "sums", "agent": agent, "source_kind": kind, **_sums(sums)})
    console.write_json(
        {
            "kind": "audit",
            "sources": audit.sources,
            "records": audit.records,
            "landed": audit.landed,
            "compared": audit.compared,
            "faults": audit.faults,
            "gone": audit.gone,
            "moved": audit.moved,
            "links": audit.links,
            "unknown_roots": sorted(audit.unknown),
            **_sums(audit.total),
        }
    )


def _sums(sums: "Sums") -> dict[str, Any]:
    return {
        "bytes": sums.size,
        "sums": {**sums.account._asdict(), "pending": sums.pending},
        "adds_up": not sums.difference,
    }
