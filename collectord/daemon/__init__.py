"""The life of the daemon: start, ready, collect, stop."""

from collectord.daemon.run import run
from collectord.daemon.status import Status, status_of

__all__ = ["Status", "run", "status_of"]
