"""
The quick way through the lines that a session mostly consists of.

Nearly every line is a message of the model or a tool's answer, compact, with members
whose values are of the type that the runtime gives them. Such a line is read here in one
scan. The moment that anything is different, the line is handed back untouched, and the
careful way (`collectord_adapters.claude_code.message` and what it uses), which describes
every line, takes it. The careful way is the reference: a test holds the two together.

One sum says that nothing was overlooked. In a compact line without repeated, escaped or
unlisted names, the names, the punctuation and the values add up to its size, and each of
those faults makes it longer. So sizes are summed on the way, and compared at the end.
"""

from collectord_adapters.claude_code.usual.line import usual_line

__all__ = ["usual_line"]
