"""What one visit to a source did."""

from typing import Final, NamedTuple

__all__ = ["UNCHANGED", "Outcome"]


class Outcome(NamedTuple):
    """What one visit did."""

    records: int = 0
    """Records that were landed."""
    bytes: int = 0
    """Source bytes that were read past."""
    more: bool = False
    """The slice was used up; visit again."""
    again_s: float = 0.0
    """Above 0: visit again after so many seconds, although nothing will announce it."""
    opened: bool = True
    """Whether the source was opened at all."""
    note: str = ""
    """Why nothing of the source lands, in one sentence."""


UNCHANGED: Final = Outcome(opened=False)
"""Nothing about the source has changed since it was read to its end."""
