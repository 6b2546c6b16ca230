"""
File system steps that must survive a power cut, and the platform differences in them.

A file is durable when it and the folder that names it have been synced; a new folder,
when its parent has. On macOS ``fsync`` does not empty the drive's cache, so there it
means ``F_FULLFSYNC``.

Source: docs/format.md, "A landed file, an open file".
"""

import contextlib
import ctypes
import errno
import os
import stat
import sys
from pathlib import Path
from typing import Any, Final

__all__ = ["fsync", "fsync_folder", "make_folders", "rename_new"]

_NO_SUCH_CALL: Final = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
_AT_FDCWD: Final = -100
_RENAME_NOREPLACE: Final = 1
_RENAME_EXCL: Final = 4


def fsync(fd: int) -> None:
    """Bring the file's bytes and mode to the disk. Raises OSError: never call it again then."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - absent on Windows

        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        except OSError as error:
            if error.errno not in _NO_SUCH_CALL:
                raise
        else:
            return
    os.fsync(fd)


def fsync_folder(path: Path | str) -> None:
    """Bring the names in *path* to the disk."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        # Some file systems (FAT, SMB, FUSE) know no such call on a folder.
        if error.errno not in _NO_SUCH_CALL:
            raise
    finally:
        os.close(fd)


def make_folders(path: Path, mode: int, *, durable: bool = True) -> None:
    """
    Create *path* and what is missing above it with *mode*, each one's parent synced.

    All are made before the first is synced: a journal takes them to the disk together.
    """
    wanted = [os.fspath(path)]
    made: list[str] = []
    while wanted:
        folder = wanted[-1]
        try:
            os.mkdir(folder, mode)  # noqa: PTH102 - no Path for each of many folders
        except FileExistsError:
            pass
        except FileNotFoundError:
            wanted.append(os.path.dirname(folder))  # noqa: PTH120
            continue
        else:
            made.append(folder)
            if mode & ~stat.S_IRWXU:
                # The umask cuts what others may; a file system without modes may refuse.
                with contextlib.suppress(PermissionError):
                    os.chmod(folder, mode)  # noqa: PTH101
        wanted.pop()
    if durable:
        for folder in made:
            fsync_folder(os.path.dirname(folder))  # noqa: PTH120


def rename_new(source: Path, target: Path) -> None:
    """
    Rename *source* to *target*, which must not exist.

    Raises:
        FileExistsError: *target* is there; nothing was changed.
        OSError: The rename failed; *source* is still there, perhaps beside *target*.
    """
    if _rename_exclusive(source, target):
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise
        # No exclusive rename and no links: one writer a root makes the check good enough.
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        source.rename(target)
        return
    fsync_folder(target.parent)
    source.unlink()


def _rename_exclusive(source: Path, target: Path) -> bool:
    """Return False where the platform or the file system has no such call."""
    if sys.platform == "linux" and hasattr(_libc, "renameat2"):
        result = _libc.renameat2(
            _AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), _RENAME_NOREPLACE
        )
    elif sys.platform == "darwin" and hasattr(_libc, "renamex_np"):
        result = _libc.renamex_np(os.fsencode(source), os.fsencode(target), _RENAME_EXCL)
    else:
        return False
    if result == 0:
        return True
    number = ctypes.get_errno()
    if number == errno.EEXIST:
        raise FileExistsError(number, os.strerror(number), str(target))
    if number in _NO_SUCH_CALL:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


_libc: Any = ctypes.CDLL(None, use_errno=True) if sys.platform != "win32" else None
