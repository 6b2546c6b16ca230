"""The JSON Schema of sd/1, as the packaged file ``schema.json`` beside this module."""

from importlib import resources
from typing import Any

import orjson

__all__ = ["json_schema"]


def json_schema() -> dict[str, Any]:
    """Return the schema of one line of a file: a header, a record or a closing line."""
    text = resources.files("collectord.sessiondata").joinpath("schema.json").read_bytes()
    loaded: dict[str, Any] = orjson.loads(text)
    return loaded
