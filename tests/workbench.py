"""A landing root, a folder of sources of the plain test runtime, and passes over them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from collectord.config import Config, Landing, Limits
from collectord.pipeline import Assembly, Summary, Surroundings, assemble, collect_once
from tests.plain import plain_plugin


class Workbench:
    """Everything below one temporary folder."""

    def __init__(self, tmp: Path, **landing: object) -> None:
        self.sources = tmp / "sources"
        self.root = tmp / "root"
        self.state = tmp / "state"
        self.sources.mkdir(parents=True, exist_ok=True)
        self.config = Config(
            landing=Landing(root=self.root, **landing),  # type: ignore[arg-type]
            limits=Limits(convert_bytes=1 << 20),
        )

    def surroundings(self) -> Surroundings:
        return Surroundings(
            self.config, self.state, [plain_plugin(self.sources)], (), {}, self.sources
        )

    @contextmanager
    def process(self, *, gather: bool = False) -> Iterator[Assembly]:
        """What one process would hold: a fresh one each time."""
        with assemble(self.surroundings(), gather=gather) as assembly:
            yield assembly

    def collect(self, *, final: bool = False) -> Summary:
        with self.process(gather=True) as assembly:
            return collect_once(assembly, final=final)

    def forget_state(self) -> None:
        shutil.rmtree(self.state, ignore_errors=True)

    def write(self, name: str, data: bytes) -> Path:
        path = self.sources / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def append(self, name: str, data: bytes) -> None:
        with (self.sources / name).open("ab") as stream:
            stream.write(data)


def lines(first: int, last: int, *, width: int = 0) -> bytes:
    """Return numbered records, a line each."""
    return b"".join(
        b'{"n":%d,"text":"%s"}\n' % (number, b"x" * width) for number in range(first, last + 1)
    )
