"""Landed lines read by other parsers: what one of them refuses is not strict JSON."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import msgspec
import orjson

NODE = shutil.which("node")

_NODE_PROGRAM = """
const fs = require('fs');
let lines = 0;
for (const path of fs.readFileSync(0, 'utf8').split('\\0').filter(Boolean)) {
  const text = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(fs.readFileSync(path));
  for (const line of text.split('\\n').slice(0, -1)) {
    const value = JSON.parse(line);
    if (typeof value !== 'object' || value === null) throw new Error(path);
    lines += 1;
  }
}
console.log(lines);
"""


def landed_files(root: Path) -> list[Path]:
    """Return every sealed file below *root*."""
    return sorted(root.rglob("*.sd"))


def read_by_python(paths: Iterable[Path]) -> int:
    """Assert that three parsers read every line; return how many lines there are."""
    count = 0
    for path in paths:
        data = path.read_bytes()
        assert data.endswith(b"\n")
        for line in data.split(b"\n")[:-1]:
            found = json.loads(line.decode(), parse_constant=_refuse)
            assert isinstance(found, dict)
            assert isinstance(orjson.loads(line), dict)
            assert isinstance(msgspec.json.decode(line), dict)
            count += 1
    return count


def read_by_node(paths: Iterable[Path]) -> int:
    """Return how many lines Node's JSON.parse reads; it ends with an error at the first it refuses."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", _NODE_PROGRAM],
        input="\0".join(map(str, paths)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")
