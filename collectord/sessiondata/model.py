"""
The three levels of sd/1: header, record, part.

Field order is the order of keys in a line. A field that holds nothing (an empty
string or list, None, UNSET) is not written; 0 and False are values and are. Empty
identifiers say that the runtime supplied none: nothing is inferred to fill them.

Source: the format's own page, "Session Data"; docs/format.md for what it leaves open.
"""

from enum import StrEnum
from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType, field

__all__ = [
    "FLAGS",
    "SCHEMA",
    "TRIGGERS",
    "Dropped",
    "End",
    "From",
    "Header",
    "Kind",
    "Part",
    "PartKind",
    "Record",
    "State",
    "Usage",
]

SCHEMA: Final = "sd/1"
"""The one schema that this package reads and writes."""

FLAGS: Final = (
    "synthetic",
    "context_reset",
    "reset_summary",
    "finished",
    "external_input",
    "injected",
    "child_result",
    "error",
    "launch_ack",
    "turn_duration",
    "command",
    "notice",
    "system_prompt",
    "tool_schemas",
)
"""The closed set of ``Record.flags``, in the order in which several are written."""

TRIGGERS: Final = ("external", "notification", "unknown")
"""What may start an agent loop; a word of the runtime outside it is ``unknown``."""


class Kind(StrEnum):
    """What a file was collected from."""

    TRANSCRIPT = "transcript"
    AGENT_META = "agent_meta"
    JOURNAL = "journal"
    WORKFLOW_MANIFEST = "workflow_manifest"
    WORKFLOW_SCRIPT = "workflow_script"
    PROVIDER_BODY = "provider_body"
    OTLP_LOG = "otlp_log"
    """Reserved for a push transport."""
    OTLP_SPAN = "otlp_span"
    """Reserved for a push transport."""


class From(StrEnum):
    """Who produced a record."""

    AGENT = "agent"
    """The model's output."""
    EXTERNAL = "external"
    """What comes from outside the model: a person, a tool answering."""
    RUNTIME = "runtime"
    """What the runtime says for itself."""


class PartKind(StrEnum):
    """What a part is."""

    TEXT = "text"
    REASONING = "reasoning"
    CALL = "call"
    RESULT = "result"
    MEDIA = "media"
    DATA = "data"
    UNKNOWN = "unknown"


class State(StrEnum):
    """How much of the original a part holds."""

    AVAILABLE = "available"
    TRUNCATED = "truncated"
    REDACTED = "redacted"
    OMITTED = "omitted"
    UNAVAILABLE = "unavailable"


class Header(Struct, omit_defaults=True, frozen=True, kw_only=True):
    """The first line of a file: everything that is constant for it."""

    h: int | UnsetType = UNSET
    """Envelope version, 1."""
    schema: str = ""
    """``sd/1``."""
    seq: int | UnsetType = UNSET
    """The landed sequence number, from 1, monotonic per session."""
    at: str = ""
    """When the file was collected: RFC 3339, UTC."""
    kind: str = ""
    """A `Kind`."""
    adapter: str = ""
    """How the records were acquired, with its contract version: ``claude-code-local/0.1.0``."""
    dialect: str = ""
    """Whose schema they were read as: ``claude-code/1``."""
    src: str = ""
    """The source, relative to the adapter's root, with forward slashes."""
    session: str = ""
    stream: str = ""
    """``main`` or an agent id; empty for files that belong to no stream."""
    batch: str = ""
    """The group of children that a workflow run started."""


class Usage(Struct, omit_defaults=True, frozen=True):
    """What the provider reported, in tokens; disjoint counts, absent where it said nothing."""

    in_: int | float | None = field(default=None, name="in")
    out: int | float | None = None
    cache_read: int | float | None = None
    cache_write: int | float | None = None


class Dropped(Struct, frozen=True):
    """A loss, stated: bytes that are nowhere else in the landed record."""

    what: str
    bytes: int
    why: str


_EMPTY_JSON: Final = frozenset((b"{}", b"[]", b'""', b"null"))


class Part(Struct, omit_defaults=True):
    """One piece of content, named for what it is; ``data`` that holds nothing is UNSET."""

    k: str
    """A `PartKind`; a reader keeps kinds that it does not know."""
    id: str = ""
    """``call``: the call's own id."""
    of: str = ""
    """``result``: the id of the call that it answers."""
    name: str = ""
    """``call``: what is to be run."""
    media: str = ""
    """``media``: the media type."""
    text: str = ""
    data: Raw | UnsetType = UNSET
    """The source's own JSON, byte for byte apart from white space between tokens."""
    encoding: str = ""
    """``base64`` on an ``unknown`` part whose bytes are not UTF-8."""
    failed: bool | None = None
    """``result``: None when the runtime said nothing, which is not the same as False."""
    state: str = ""
    """A `State`."""
    bytes: int | UnsetType = UNSET
    """Size of the original content in UTF-8 bytes, also when the part holds less."""

    def __post_init__(self) -> None:
        if self.data is not UNSET and len(self.data) < 5 and bytes(self.data) in _EMPTY_JSON:
            self.data = UNSET


class Record(Struct, omit_defaults=True):
    """One source record, converted."""

    ord: int | UnsetType = UNSET
    """The record's number in its source, from 1; blank lines count."""
    off: int | UnsetType = UNSET
    """The byte where it starts in its source; absent where a source has no bytes (a database)."""
    sha: str = ""
    """First 12 hex digits of the SHA-256 of exactly its bytes (other writers give 64)."""
    bytes: int | UnsetType = UNSET
    """Its size without the line ending."""
    id: str = ""
    parent: str = ""
    call: str = ""
    """The provider call that this record is a fragment of."""
    run: str = ""
    """The agent loop that it belongs to, one per trigger."""
    continues: str = ""
    """On a reset boundary only: the record that the new context resumes from."""
    tool: str = ""
    """The call that a sidecar or a notification answers, where stated outside the content."""
    child: str = ""
    """The child stream that the record names."""
    batch: str = ""
    started_by: str = ""
    """The stream that started this one."""
    label: str = ""
    from_: str = field(default="", name="from")
    """A `From`."""
    time: str = ""
    """As the runtime wrote it."""
    trigger: str = ""
    """One of `TRIGGERS`."""
    flags: list[str] = []
    """Some of `FLAGS`, in that order."""
    usage: Usage | None = None
    model: str = ""
    parts: list[Part] = []
    dropped: list[Dropped] = []


class End(Struct, frozen=True):
    """The closing line that some writers add after the last record."""

    t: str
    records: int
    digest: str
    """SHA-256 of every byte before this line, in hex."""
