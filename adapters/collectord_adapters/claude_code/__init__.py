"""Claude Code: sessions below ``projects/``, read as the dialect ``claude-code/1``."""

from collectord_adapters.claude_code.adapter import ADAPTER

__all__ = ["ADAPTER"]
