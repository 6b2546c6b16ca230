"""
Write a `.sd` file: for tools and third-party adapters that make whole files.

The daemon's own landing (which must survive a crash at every byte) does not use this;
it writes the same lines.
"""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Self

from collectord.errors import SessionDataError
from collectord.sessiondata.codec import encode
from collectord.sessiondata.model import End, Header, Record
from collectord.sessiondata.validation import check_header, check_record

__all__ = ["SdWriter"]


class SdWriter:
    """
    A new file at *path*: the header at once, then a record a call.

    Raises:
        SessionDataError: The header or a record is not valid sd/1, or records do not rise.
        FileExistsError: *path* is there; a landed file is never written again.
    """

    def __init__(self, path: Path | str, header: Header, *, closing_line: bool = False) -> None:
        check_header(header, where=str(path))
        self._where = str(path)
        self._stream = Path(path).open("xb")  # noqa: SIM115 - close() ends it
        self._closing_line = closing_line
        self._digest = hashlib.sha256()
        self._records = 0
        self._last = -1
        self._put(encode(header))

    def write(self, record: Record) -> None:
        """Append *record*."""
        line = self._records + 2
        check_record(record, where=self._where, line=line)
        assert isinstance(record.ord, int)
        if record.ord <= self._last:
            raise SessionDataError(
                f"`ord` is {record.ord} after {self._last}", where=self._where, line=line
            )
        self._last = record.ord
        self._put(encode(record))
        self._records += 1

    def close(self) -> None:
        """Write the closing line, where one was asked for, and close the file."""
        if self._closing_line and not self._stream.closed:
            self._put(encode(End("end", self._records, self._digest.hexdigest())))
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self._stream.close()

    def _put(self, line: bytes) -> None:
        self._stream.write(line)
        self._digest.update(line)
