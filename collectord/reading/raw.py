"""
Landed bytes on their way to a terminal.

JSON strings hold no control character below U+0020, but may hold DEL and the C1 controls,
which some terminals obey; and a line that is no JSON may hold anything. Both are written
as JSON escapes, which mean the same to a program.
"""

import re
from typing import Final

__all__ = ["for_terminal"]

_OBEYED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def for_terminal(line: bytes) -> str:
    """Return a landed line for a terminal: the same JSON without a raw control character."""
    text = line.decode("utf-8", "backslashreplace")
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
