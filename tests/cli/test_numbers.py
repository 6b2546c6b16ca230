"""What people are told of one thing is said of one thing."""

import re
from pathlib import Path

import pytest

from collectord.cli.main import execute
from tests.daemon.living import append, record

SESSION = "0438c73b-0000-4000-8000-000000000001"


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """One source of one session with one record."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    append(tmp_path / ".claude" / "projects" / "-work" / f"{SESSION}.jsonl", record(1) + b"\n{")
    return ["--root", str(tmp_path / "root"), "--state-dir", str(tmp_path / "state")]


def test_one_of_everything_has_no_plural(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = ""
    for command in (["collect"], ["collect"], ["status"], ["sources"], ["sessions"], ["verify"]):
        assert execute([*command, *options]) == 0
        said += capsys.readouterr().out
    assert execute(["verify", "--against-sources", *options]) == 0
    said += capsys.readouterr().out

    assert "1 record of 1 session (" in said
    assert "1 of 1 source) landed in" in said
    assert "Nothing new in 1 source;" in said
    assert "Collected  1 record of 1 session in 1 sealed file (" in said
    assert "pending (1 byte)" in said
    assert "1 session, 1 file, 1 record," in said
    assert "1 source, 1 record:" in said
    assert not re.findall(
        r"(?<![\d,.])1 (?:\w+ )?(?:record|session|source|file|note|byte)s\b", said
    )
