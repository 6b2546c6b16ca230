"""The sources against what landed of them: every digest, every conversion, every byte."""

from collectord.audit.against import Audit, against_sources
from collectord.audit.finding import AuditFinding, AuditKind
from collectord.audit.sums import SourceAudit, Sums

__all__ = ["Audit", "AuditFinding", "AuditKind", "SourceAudit", "Sums", "against_sources"]
