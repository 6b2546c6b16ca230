"""
Whether a folder lies on a file system whose changes by other hosts announce themselves to nobody.

There events do not arrive, so its files are looked at on a timer instead.
"""

import sys
from pathlib import Path
from typing import Final

__all__ = ["is_remote"]

_REMOTE: Final = frozenset(
    {
        "9p",
        "afs",
        "ceph",
        "cifs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
        "virtiofs",
    }
)


def is_remote(path: Path) -> bool:
    """Return whether *path* is on a network file system; False where that cannot be told."""
    return _type_of(path) in _REMOTE


def _type_of(path: Path) -> str:
    if sys.platform != "linux":
        return ""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    resolved = path.resolve()
    best, kind = "", ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        place = fields[4].encode().decode("unicode_escape")
        if resolved.is_relative_to(place) and len(place) >= len(best):
            best, kind = place, right.split(" ")[0]
    return kind
