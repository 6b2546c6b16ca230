"""The open file by itself: what a failed write leaves, and what sealing gives."""

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from collectord.errors import LandedFileDiffers
from collectord.landing import LandingRoot, OpenFile
from collectord.sessiondata import SCHEMA, Header, Kind, open_sd

HEADER = Header(
    h=1,
    schema=SCHEMA,
    seq=1,
    at="2026-01-01T00:00:00Z",
    kind=Kind.TRANSCRIPT,
    adapter="plain-local/0.1.0",
    dialect="plain/1",
    src="s.jsonl",
    session="s",
    stream="main",
)
NAME = "transcript-20260101T000000.000000000Z-000001.sd.open"


def record(number: int) -> bytes:
    return (
        b'{"ord":%d,"off":0,"sha":"000000000000","bytes":1,"from":"runtime",'
        b'"parts":[{"k":"text","text":"x","state":"available","bytes":1}]}\n' % number
    )


@pytest.fixture
def file(tmp_path: Path) -> OpenFile:
    root = LandingRoot(tmp_path / "root")
    root.create()
    return OpenFile.create(tmp_path / "root" / "s" / "streams" / "main", NAME, HEADER, root)


def failing_write(patch: pytest.MonkeyPatch, taken: int) -> None:
    real = os.write

    def write(fd: int, data: Any) -> int:
        real(fd, bytes(data)[:taken])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr(os, "write", write)


@pytest.mark.parametrize("taken", [0, 1, 20])
def test_what_a_failed_write_left_is_cut_off_before_the_next(
    file: OpenFile, monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    file.append(record(1), records=1)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        failing_write(patch, taken)
        file.append(record(2), records=1)
    file.append(record(3), records=1)
    path, digest = file.seal()
    with open_sd(path) as sd:
        assert [each.ord for each in sd] == [1, 3]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    assert file.records == 2


def test_what_a_failed_write_left_is_cut_off_before_sealing(
    file: OpenFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        failing_write(patch, 9)
        file.append(record(1), records=1)
    path, _ = file.seal()
    assert path.read_bytes().count(b"\n") == 1


def test_a_long_record_that_fails_in_the_middle_leaves_nothing(file: OpenFile) -> None:
    def pieces() -> Any:
        yield record(1)[:30]
        raise OSError("the source became shorter while it was read")

    size = file.size
    with pytest.raises(OSError, match="shorter"):
        file.append_pieces(pieces())
    assert file.path.stat().st_size == size
    file.append_pieces([record(1)[:30], record(1)[30:]])
    path, digest = file.seal()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest


def test_short_writes_are_gone_on_with(file: OpenFile, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:7]))
        file.append(record(1) + record(2), records=2)
    path, _ = file.seal()
    with open_sd(path) as sd:
        assert [each.ord for each in sd] == [1, 2]


def test_a_closing_line_holds_the_digest_of_what_is_above(file: OpenFile) -> None:
    file.append(record(1), records=1)
    path, digest = file.seal(closing_line=True)
    with open_sd(path) as sd:
        assert sd.check_digest() is True
        assert sd.end is not None
        assert sd.end.records == 1
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


def test_an_existing_sealed_file_is_never_overwritten(file: OpenFile) -> None:
    target = file.path.with_suffix("")
    target.write_bytes(b"another\n")
    with pytest.raises(LandedFileDiffers, match="nothing was overwritten"):
        file.seal()
    assert target.read_bytes() == b"another\n"


def test_an_open_file_is_never_created_over_another(tmp_path: Path, file: OpenFile) -> None:
    root = LandingRoot(tmp_path / "root")
    with pytest.raises(FileExistsError):
        OpenFile.create(file.path.parent, NAME, HEADER, root)
    assert file.path.exists()
