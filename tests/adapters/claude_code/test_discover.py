"""Which file is which source, and where the roots are."""

import os
from pathlib import Path

import pytest

from collectord.adapter import Adapter, Reader
from collectord.sessiondata import Kind
from collectord_adapters.claude_code import ADAPTER

SESSION = "00000002-0000-4000-8000-00000000000A"
RUN = "wf_afa31e47-f6c"
ROOT = Path("/home/dev/.claude/projects")

SOURCES = [
    (f"-s/{SESSION}.jsonl", Kind.TRANSCRIPT, SESSION, "main", ""),
    (f"-s/{SESSION}/subagents/agent-a0123456789abcdef.jsonl", Kind.TRANSCRIPT, SESSION, "a0123456789abcdef", ""),
    (f"-s/{SESSION}/subagents/agent-acompact-x_Y.jsonl", Kind.TRANSCRIPT, SESSION, "acompact-x_Y", ""),
    (f"-s/{SESSION}/subagents/agent-a01.meta.json", Kind.AGENT_META, SESSION, "a01", ""),
    (f"-s/{SESSION}/subagents/workflows/{RUN}/agent-a01.jsonl", Kind.TRANSCRIPT, SESSION, "a01", RUN),
    (f"-s/{SESSION}/subagents/workflows/{RUN}/agent-a01.meta.json", Kind.AGENT_META, SESSION, "a01", RUN),
    (f"-s/{SESSION}/subagents/workflows/{RUN}/journal.jsonl", Kind.JOURNAL, SESSION, "", RUN),
    (f"-s/{SESSION}/workflows/{RUN}.json", Kind.WORKFLOW_MANIFEST, SESSION, "", RUN),
    (f"-s/{SESSION}/workflows/scripts/my-wf_label-{RUN}.js", Kind.WORKFLOW_SCRIPT, SESSION, "", RUN),
    ("-s/agent-1a2b3c4d.jsonl", Kind.TRANSCRIPT, "", "1a2b3c4d", ""),
]  # fmt: skip

NO_SOURCES = [
    "-s/not-a-uuid.jsonl",
    "-s/sessions-index.json",
    "-s/memory/notes.md",
    f"{SESSION}.jsonl",
    f"-s/{SESSION}.jsonl.bak",
    f"-s/{SESSION}.json",
    f"-s/x{SESSION}.jsonl",
    f"-s/{SESSION}/custom-title.json",
    f"-s/{SESSION}/tool-results/toolu_1.txt",
    f"-s/{SESSION}/subagents/agent-.jsonl",
    f"-s/{SESSION}/subagents/agent-a.b.jsonl",
    f"-s/{SESSION}/subagents/a01.jsonl",
    f"-s/{SESSION}/subagents/agent-a01.json",
    f"-s/{SESSION}/subagents/workflows/{RUN}/x/agent-a01.jsonl",
    f"-s/{SESSION}/workflows/other.json",
    f"-s/{SESSION}/workflows/scripts/{RUN}.js",
    "-s/not-a-uuid/subagents/agent-a01.jsonl",
    f"-s/t/{SESSION}.jsonl",
    "",
]


def test_it_is_an_adapter() -> None:
    assert isinstance(ADAPTER, Adapter)
    assert (ADAPTER.name, ADAPTER.version, ADAPTER.title) == (
        "claude-code-local",
        "0.1.0",
        "Claude Code",
    )
    assert ADAPTER.dialect.name == "claude-code/1"


@pytest.mark.parametrize(("src", "kind", "session", "stream", "batch"), SOURCES)
def test_a_file_is_known_by_its_name_alone(
    src: str, kind: Kind, session: str, stream: str, batch: str
) -> None:
    source = ADAPTER.locate(ROOT, ROOT / src)

    assert source is not None
    assert (source.adapter, source.src, source.path) == ("claude-code-local", src, ROOT / src)
    assert (source.kind, source.session, source.stream, source.batch) == (
        kind, session, stream, batch,
    )  # fmt: skip
    is_lines = kind in (Kind.TRANSCRIPT, Kind.JOURNAL)
    assert source.reader == (Reader.LINES if is_lines else Reader.DOCUMENT)


@pytest.mark.parametrize("src", NO_SOURCES)
def test_what_is_no_session_is_not_taken(src: str) -> None:
    assert ADAPTER.locate(ROOT, ROOT / src) is None


def test_a_path_outside_the_root_is_not_taken() -> None:
    assert ADAPTER.locate(ROOT, Path(f"/home/dev/.claude/projects2/-s/{SESSION}.jsonl")) is None


def test_the_desktop_app_keeps_projects_below_its_own_sessions() -> None:
    root = Path("/home/dev/.config/Claude/local-agent-mode-sessions")
    inner = f"org/account/local_1/.claude/projects/-s/{SESSION}.jsonl"

    source = ADAPTER.locate(root, root / inner)

    assert source is not None
    assert (source.src, source.session, source.stream) == (inner, SESSION, "main")
    assert ADAPTER.locate(root, root / "org/account/local_1/audit.jsonl") is None
    assert ADAPTER.locate(root, root / f"-s/{SESSION}.jsonl") is None


def test_roots_are_the_union_of_the_named_and_the_default_places() -> None:
    home = Path("/home/dev")

    roots = ADAPTER.roots({"CLAUDE_CONFIG_DIR": "/a, ~/b,,/a", "XDG_CONFIG_HOME": "/xdg"}, home)

    assert roots[:5] == [
        Path("/a/projects"),
        Path("/home/dev/b/projects"),
        Path("/xdg/claude/projects"),
        Path("/home/dev/.config/claude/projects"),
        Path("/home/dev/.claude/projects"),
    ]
    assert len(set(roots)) == len(roots)
    assert ADAPTER.roots({}, home)[1] == Path("/home/dev/.claude/projects")


@pytest.mark.parametrize(
    ("system", "places"),
    [
        ("darwin", ["/home/dev/Library/Application Support/Claude"]),
        ("linux", ["/xdg/Claude", "/home/dev/.config/Claude"]),
    ],
)
def test_the_desktop_app_is_looked_for_where_this_system_keeps_it(
    system: str, places: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", system)

    roots = ADAPTER.roots({"XDG_CONFIG_HOME": "/xdg"}, Path("/home/dev"))

    desktop = [root for root in roots if root.name == "local-agent-mode-sessions"]
    assert desktop == [Path(place, "local-agent-mode-sessions") for place in places]


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    return path


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """A root with one session of every depth."""
    root = tmp_path / "home" / ".claude" / "projects"
    for src, *_ in SOURCES:
        put(root / src)
    put(root / "-s" / "memory" / "notes.md")
    return root


@pytest.mark.parametrize(
    "inside",
    [
        "",
        "-s",
        f"-s/{SESSION}.jsonl",
        f"-s/{SESSION}",
        f"-s/{SESSION}/subagents",
        f"-s/{SESSION}/subagents/workflows/{RUN}",
        f"-s/{SESSION}/subagents/workflows/{RUN}/journal.jsonl",
        f"-s/{SESSION}/workflows/scripts/my-wf_label-{RUN}.js",
        "-s/agent-1a2b3c4d.jsonl",
        "..",
        "../..",
        "../../..",
    ],
)
def test_a_path_in_on_or_above_a_root_finds_it(projects: Path, inside: str) -> None:
    path = Path(os.path.normpath(projects / inside))

    assert ADAPTER.roots_at(path) == [projects]


def test_a_root_needs_no_name_only_the_shape(tmp_path: Path) -> None:
    put(tmp_path / "copied" / "-s" / SESSION / "workflows" / f"{RUN}.json")

    assert ADAPTER.roots_at(tmp_path / "copied") == [tmp_path / "copied"]


def test_every_nested_root_is_found(tmp_path: Path) -> None:
    put(tmp_path / "a" / ".claude" / "projects" / "-s" / f"{SESSION}.jsonl")
    put(tmp_path / "b" / "c" / "projects" / "-s" / "agent-01234567.jsonl")
    put(tmp_path / "d" / "projects" / "website" / "index.html")
    desktop = tmp_path / "e" / "local-agent-mode-sessions"
    put(desktop / "o" / "l" / ".claude" / "projects" / "-s" / f"{SESSION}.jsonl")

    assert ADAPTER.roots_at(tmp_path) == [
        tmp_path / "a" / ".claude" / "projects",
        tmp_path / "b" / "c" / "projects",
        tmp_path / "e" / "local-agent-mode-sessions",
    ]


def test_the_walk_is_bounded_and_follows_no_link(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"abcdefghi")
    put(deep / ".claude" / "projects" / "-s" / f"{SESSION}.jsonl")
    (tmp_path / "loop").symlink_to(tmp_path)

    assert ADAPTER.roots_at(tmp_path) == []
    assert ADAPTER.roots_at(tmp_path / "nothing-here") == []
