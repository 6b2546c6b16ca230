"""A workbench whose dialect accounts for its bytes, and the audit of it in a few words."""

from pathlib import Path

from collectord.adapter import Account, Context, Converted, Plugin, Source
from collectord.audit import Audit, SourceAudit, against_sources
from collectord.pipeline import Surroundings
from collectord.sources import RawRecord
from tests.plain import PlainAdapter, PlainDialect
from tests.workbench import Workbench


class AccountingDialect(PlainDialect):
    """Every token is a part, white space is syntax."""

    def convert(
        self, raw: RawRecord, source: Source, context: Context, *, audit: bool = False
    ) -> Converted:
        converted = super().convert(raw, source, context, audit=audit)
        if not audit or converted.account is not None:
            return converted
        part = len(converted.record.parts[0].data)  # type: ignore[arg-type]
        return converted._replace(account=Account(part=part, syntax=raw.size - part))


class AccountingAdapter(PlainAdapter):
    dialect = AccountingDialect()


class AuditBench(Workbench):
    """Collects with the accounting dialect, and audits."""

    adapter: type[PlainAdapter] = AccountingAdapter

    def surroundings(self, *paths: Path) -> Surroundings:
        plugin = Plugin("plain", self.adapter(self.sources), "tests 0")
        return Surroundings(self.config, self.state, [plugin], paths, {}, self.sources)

    def audit(self, *paths: Path, folder: Path | None = None) -> tuple[Audit, list[SourceAudit]]:
        audit = against_sources(self.surroundings(*paths), folder)
        return audit, list(audit)

    def findings(self) -> list[tuple[str, int, int]]:
        """Return (kind, ord, records) of everything that is found."""
        _, sources = self.audit()
        return [
            (found.kind.value, found.ord, found.records)
            for source in sources
            for found in source.findings
        ]

    def landed(self, number: int = 1) -> Path:
        """Return the landed file with this number."""
        (path,) = self.root.rglob(f"*-{number:06d}.sd")
        return path

    def tamper(self, old: bytes, new: bytes, number: int = 1) -> None:
        """Change the one place where *old* stands in a landed file."""
        path = self.landed(number)
        data = path.read_bytes()
        assert data.count(old) == 1, data
        path.chmod(0o600)
        path.write_bytes(data.replace(old, new))
