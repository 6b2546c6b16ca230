"""Plug-ins made by hand: a module and its dist-info in a folder, no installer."""

from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "adapters.md"


def guide_example() -> str:
    """Return the whole plug-in that the guide shows."""
    _, _, after = GUIDE.read_text("utf-8").partition("\n```python\n")
    return after.partition("\n```\n")[0] + "\n"


def install(site: Path, distribution: str, points: dict[str, str], **modules: str) -> None:
    """Put *distribution* with entry points *points* and *modules* (name to source) into *site*."""
    info = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[collectord.adapters]", *lines, ""]))
    for name, source in modules.items():
        (site / f"{name}.py").write_text(source, "utf-8")
