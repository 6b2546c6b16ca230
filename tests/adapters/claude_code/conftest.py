"""What the tests of the Claude Code adapter share: what a line becomes."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from collectord.adapter import NO_CONTEXT, Context, Converted, Source
from collectord.sessiondata import encode
from collectord_adapters.claude_code import ADAPTER
from tests.adapters.claude_code.lines import Landed, compact, raw_of, source_of


@pytest.fixture
def convert() -> Callable[..., Converted]:
    """Return a function that converts one line (bytes, or a value to write as JSON)."""

    def converted(
        line: object,
        source: Source | None = None,
        context: Context = NO_CONTEXT,
        *,
        audit: bool = False,
        off: int = 1,
    ) -> Converted:
        data = line if isinstance(line, bytes) else compact(line)
        source = source_of() if source is None else source
        return ADAPTER.dialect.convert(raw_of(data, off=off), source, context, audit=audit)

    return converted


@pytest.fixture
def land(convert: Callable[..., Converted]) -> Callable[..., Landed]:
    """Return a function that gives one line's record as any reader sees it."""

    def landed(line: object, source: Source | None = None, **more: Any) -> Landed:
        record: Landed = json.loads(encode(convert(line, source, **more).record))
        return record

    return landed
