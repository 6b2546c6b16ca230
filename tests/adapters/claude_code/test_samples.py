"""
Sessions of others, where they lie beside the checkout: nothing in them is unknown.

They are no part of the project; without them these tests are skipped.
"""

import os
from collections import Counter
from pathlib import Path

import orjson
import pytest
from msgspec import Raw

from collectord.adapter import NO_CONTEXT, Context
from collectord.sessiondata import encode, record_problems
from collectord_adapters.claude_code import ADAPTER
from tests.golden.regenerate import raws_of, sources_of

SHARED = Path(os.environ.get("COLLECTORD_SHARED") or Path(__file__).parents[4] / "shared")
SAMPLES = [SHARED / "samples" / "claude-code", SHARED / "peer" / "claude-code"]

NOT_ON_THE_PAGE: frozenset[str] = frozenset()
"""Unknown members that the samples show and the dialect page truly does not list."""


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda path: path.parent.name)
def test_nothing_that_the_page_describes_is_unknown(folder: Path) -> None:
    if not folder.is_dir():
        pytest.skip(f"no sample sessions in {folder}")
    unknown: Counter[str] = Counter()
    records = 0
    for root in ADAPTER.roots_at(folder):
        for source in sources_of(ADAPTER, root):
            context: Context = NO_CONTEXT
            for raw in raws_of(source):
                converted = ADAPTER.dialect.convert(raw, source, context, audit=True)
                context = converted.context
                records += 1
                assert record_problems(converted.record) == []
                assert orjson.loads(encode(converted.record))["ord"] == raw.ord
                assert converted.account is not None
                assert converted.account.total == raw.size
                for part in converted.record.parts:
                    if part.k == "unknown" and part.text.startswith("members "):
                        assert isinstance(part.data, Raw)
                        unknown.update(orjson.loads(orjson.loads(bytes(part.data))).keys())

    assert records > 20
    assert set(unknown) <= NOT_ON_THE_PAGE
