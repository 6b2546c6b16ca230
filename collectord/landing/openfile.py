"""
The newest cut of a source: a file that grows, and is then sealed for good.

Opening: created exclusively, header written, file and folder synced. Appending: whole
records, one write a batch; a failed write is cut back to the last whole line. Sealing:
sync, read-only, sync, rename without replacing, sync the folder. The read-only mode
says durably that sealing began, so a crash at any step is finished by recovery.

A failed fsync is never repeated on the same inode (the kernel may have dropped the
pages): the file is copied to a new one.

Source: docs/format.md, "A landed file, an open file".
"""

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Self

from collectord.errors import LandedFileDiffers, SessionStopped
from collectord.landing.durable import fsync, fsync_folder, make_folders, rename_new
from collectord.landing.root import OPEN_SUFFIX, LandingRoot, Modes
from collectord.sessiondata import End, Header, encode
from collectord.sources import sha256_of_range

__all__ = ["COPY_SUFFIX", "OpenFile", "finish_seal"]

COPY_SUFFIX: Final = ".new"
"""Ends the name of a copy that will replace an open file; worthless until then."""

_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


class OpenFile:
    """One growing ``….sd.open``; its methods are called from one thread at a time."""

    def __init__(self, path: Path, fd: int, header: Header, root: LandingRoot) -> None:
        self.path = path
        self.header = header
        self.size = 0
        """Bytes in whole lines."""
        self.records = 0
        self.opened_at_s = time.monotonic()
        self.touched_at_s = self.opened_at_s
        """When it was last appended to, on the monotonic clock."""
        self._fd = fd
        self._root = root
        self._torn = False

    @classmethod
    def create(cls, folder: Path, name: str, header: Header, root: LandingRoot) -> Self:
        """
        Create the file with its header, durably. Only then may a record or a number follow.

        Raises:
            OSError: It could not be created; what was written of it holds no record.
        """
        make_folders(folder, root.modes.folder, durable=root.durable)
        path = folder / name
        fd = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, root.modes.open)
        made = cls(path, fd, header, root)
        try:
            if root.modes.open & ~stat.S_IRWXU:
                os.fchmod(fd, root.modes.open)  # the umask cuts what others may
            made.append(encode(header), records=0)
            if root.durable:
                fsync(fd)
                fsync_folder(folder)
        except OSError:
            os.close(fd)
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        return made

    @classmethod
    def resume(
        cls, path: Path, header: Header, root: LandingRoot, *, keep: int, records: int
    ) -> Self:
        """
        Go on with the first *keep* bytes of an open file that an earlier process left.

        They are copied to a new inode, so that a sync which failed in that process is
        not trusted here.
        """
        copy = path.with_name(path.name + COPY_SUFFIX)
        fd = os.open(copy, _FLAGS | os.O_CREAT | os.O_TRUNC, root.modes.open)
        resumed = cls(path, fd, header, root)
        try:
            os.fchmod(fd, root.modes.open)
            with path.open("rb") as stream:
                left = keep
                while left > 0 and (block := stream.read(min(left, 1 << 20))):
                    resumed.append(block, records=0)
                    left -= len(block)
            fsync(fd)
            copy.rename(path)
            fsync_folder(path.parent)
        except OSError:
            os.close(fd)
            raise
        resumed.records = records
        return resumed

    @property
    def seq(self) -> int:
        """The file's number in its session."""
        assert isinstance(self.header.seq, int)
        return self.header.seq

    def append(self, data: bytes | bytearray, *, records: int) -> None:
        """
        Append whole lines, *records* of them.

        Raises:
            OSError: Nothing of *data* counts; what was written of it is cut off again.
        """
        self._cut_back()
        self._torn = True
        self._write(data)
        self._torn = False
        self.size += len(data)
        self.records += records
        self.touched_at_s = time.monotonic()

    def append_pieces(self, pieces: Iterable[bytes]) -> None:
        """Append one record that is too long to be held. Raises OSError as `append` does."""
        self._cut_back()
        size = self.size
        self._torn = True
        try:
            for piece in pieces:
                self._write(piece)
                size += len(piece)
        except BaseException:
            with contextlib.suppress(OSError):
                self._cut_back()
            raise
        self._torn = False
        self.size = size
        self.records += 1
        self.touched_at_s = time.monotonic()

    def sync(self) -> None:
        """Bring what was appended to the disk. Raises OSError when even a copy could not be."""
        try:
            fsync(self._fd)
        except OSError:
            self._move_to_new_inode()

    def seal(self, *, closing_line: bool = False) -> tuple[Path, str]:
        """
        Close the file for good and return (its path, the SHA-256 of its bytes).

        Raises:
            LandedFileDiffers: A sealed file of that name holds something else.
            SessionStopped: The bytes could not be brought to the disk.
            OSError: A step failed; recovery finishes it.
        """
        self._cut_back()
        if closing_line:
            self.append(encode(End("end", self.records, _sha256(self._fd))), records=0)
        try:
            if self._root.durable:
                self.sync()
        except OSError as error:
            self.close()
            raise SessionStopped(self.path, f"cannot be brought to the disk: {error}") from error
        try:
            os.fchmod(self._fd, self._root.modes.sealed)
            if self._root.durable:
                fsync(self._fd)
        except OSError:
            # The bytes are on the disk; what is missing is the mode, and recovery goes on there.
            self.close()
            raise
        digest = _sha256(self._fd)
        self.close()
        return publish(self.path, durable=self._root.durable), digest

    def close(self) -> None:
        """Give the descriptor back; the file stays as it is."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write(self, data: bytes | bytearray) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    def _cut_back(self) -> None:
        if self._torn:
            os.ftruncate(self._fd, self.size)
            self._torn = False

    def _move_to_new_inode(self) -> None:
        copy = self.path.with_name(self.path.name + COPY_SUFFIX)
        fd = os.open(copy, _FLAGS | os.O_CREAT | os.O_TRUNC, self._root.modes.open)
        try:
            os.fchmod(fd, self._root.modes.open)
            with os.fdopen(os.dup(self._fd), "rb") as source, os.fdopen(os.dup(fd), "wb") as target:
                source.seek(0)
                shutil.copyfileobj(source, target, 1 << 20)
            os.ftruncate(fd, self.size)
            fsync(fd)
            copy.rename(self.path)
            fsync_folder(self.path.parent)
        except OSError:
            os.close(fd)
            raise
        os.close(self._fd)
        self._fd = fd


def finish_seal(path: Path, modes: Modes) -> Path:
    """
    Finish what a crash interrupted: *path* is a read-only open file, whole and durable.

    Raises:
        LandedFileDiffers: A sealed file of that name holds something else.
    """
    with contextlib.suppress(PermissionError):
        path.chmod(modes.sealed)
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fsync(fd)
    finally:
        os.close(fd)
    return publish(path)


def publish(path: Path, *, durable: bool = True) -> Path:
    """Give a durable, read-only open file its sealed name, durably."""
    target = path.with_name(path.name.removesuffix(OPEN_SUFFIX))
    try:
        rename_new(path, target)
    except FileExistsError:
        found, wanted = _sha256_of(target), _sha256_of(path)
        if found != wanted:
            raise LandedFileDiffers(target, found=found, wanted=wanted) from None
        path.unlink()
    if durable:
        fsync_folder(path.parent)
    return target


def _sha256(fd: int) -> str:
    """Return the SHA-256 of an open file's bytes; its offset is not used."""
    return sha256_of_range(fd, 0, os.fstat(fd).st_size)


def _sha256_of(path: Path) -> str:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return _sha256(fd)
    finally:
        os.close(fd)
