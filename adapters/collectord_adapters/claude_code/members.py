"""
The closed lists: where each member of a message or attachment record goes.

Data, not code, so that it can be held against the dialect page line by line. What no
list names is an unknown member: it keeps its bytes and is counted, so a new version of
the runtime loses nothing and shows. Record types that are kept whole need no list.

Source: docs/dialects/claude-code.md, "Content to parts".
"""

from typing import Final

__all__ = [
    "AGENT_META_LABEL",
    "BLOCK_KEPT",
    "ENVIRONMENT",
    "FLAG_MEMBERS",
    "HEADER_SESSION",
    "HEADER_STREAM",
    "KEPT",
    "LABEL_TYPES",
    "MESSAGE_HEADER",
    "MESSAGE_KEPT",
    "NO_ROLE_IN_A_MESSAGE",
    "TEXT_ROLES",
    "USAGE",
    "WHOLE_TYPES",
]

TEXT_ROLES: Final = {
    "uuid": "id",
    "parentUuid": "parent",
    "promptId": "run",
}
"""Members that are a role field as they stand: the member, and the field of `Record`."""

LABEL_TYPES: Final = {
    "aiTitle": "",
    "customTitle": "custom-title",
    "agentName": "agent-name",
    "summary": "summary",
}
"""Members that name something, and the record type that they name it on ("": any)."""

AGENT_META_LABEL: Final = "description"
"""What a sidecar calls its child."""

FLAG_MEMBERS: Final = frozenset({"isMeta", "isCompactSummary"})
"""Members that are a flag when true, and nothing when false."""

NO_ROLE_IN_A_MESSAGE: Final = frozenset({"subtype", "logicalParentUuid"})
"""Members that are a role on a system record only; elsewhere they are kept."""

HEADER_SESSION: Final = frozenset({"sessionId", "session_id"})
"""Members that the header says already when they are its session; else kept."""

HEADER_STREAM: Final = frozenset({"agentId"})
"""Members that the header says already when they are its stream; else kept."""

ENVIRONMENT: Final = frozenset(
    {
        "cwd",
        "gitBranch",
        "version",
        "entrypoint",
        "userType",
        "permissionMode",
        "slug",
        "effort",
    }
)
"""Where and with what the runtime ran: written once a file and when it changes."""

KEPT: Final = frozenset(
    {
        "origin",
        "promptSource",
        "requestId",
        "sourceToolAssistantUUID",
        "sourceToolUseID",
        "forkedFrom",
        "requestRef",
        "requestSessionId",
        "apiBlockIndex",
        "requestedModel",
        "madeBy",
        "rowSource",
        "turnOrigin",
        "turnPosition",
        "turnCompanion",
        "permissionDecision",
        "toolDenialKind",
        "toolDenialBeforeRun",
        "isApiErrorMessage",
        "apiErrorStatus",
        "apiErrorType",
        "failedResponseHadNoToolCall",
        "error",
        "rendered",
        "renderedRole",
        "renderedBesideToolResult",
        "thinkingMetadata",
        "thinkingDurationMs",
        "thinkingDisplay",
        "todos",
        "imagePasteIds",
        "isVisibleInTranscriptOnly",
        "planContent",
        "perTurnEffort",
        "promptCacheRequested",
        "toolInputStreamMs",
        "sandboxed",
        "sentAtMs",
        "serverClassifierRequest",
        "queueSkipAttachments",
        "attributionAgent",
        "attributionSkill",
        "attributionMcpServer",
        "attributionMcpTool",
        "mcpMeta",
        "humanTurn",
        "hostsOwnTurn",
        "hash",
    }
)
"""Facts of one record that no role holds; ``isSidechain`` joins them when it is not false."""

MESSAGE_HEADER: Final = frozenset({"type", "role"})
"""Members of ``message`` that repeat what the record's type says; else kept."""

MESSAGE_KEPT: Final = frozenset(
    {
        "stop_sequence",
        "stop_details",
        "container",
        "context_management",
        "output_config",
        "diagnostics",
    }
)

USAGE: Final = {
    "input_tokens": "in_",
    "output_tokens": "out",
    "cache_read_input_tokens": "cache_read",
    "cache_creation_input_tokens": "cache_write",
}
"""The four counts of ``message.usage``; every other member of it is kept."""

BLOCK_KEPT: Final = frozenset({"caller", "citations", "cache_control", "title", "context"})
"""Members of any content block that stand in the trailing part."""

WHOLE_TYPES: Final = frozenset(
    {
        "system",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "tools-used",
        "cost-state",
        "continued-in",
        "fork-context-ref",
        "atis-latch",
    }
)
"""Record types kept whole even when they hold a ``message`` or an ``attachment``."""
