"""
The contract of an adapter, and the registry of plug-ins.

Public: a third party imports this package, `collectord.sources` and
`collectord.sessiondata`, and nothing else.
"""

from collectord.adapter.contract import (
    IDENTIFY_BYTES,
    IDENTIFY_RECORDS,
    NO_CONTEXT,
    Account,
    Adapter,
    Context,
    Converted,
    Dialect,
    Identity,
    Reader,
    Source,
)
from collectord.adapter.registry import GROUP, Plugin, Registry, load_registry
from collectord.adapter.verbatim import verbatim

__all__ = [
    "GROUP",
    "IDENTIFY_BYTES",
    "IDENTIFY_RECORDS",
    "NO_CONTEXT",
    "Account",
    "Adapter",
    "Context",
    "Converted",
    "Dialect",
    "Identity",
    "Plugin",
    "Reader",
    "Registry",
    "Source",
    "load_registry",
    "verbatim",
]
