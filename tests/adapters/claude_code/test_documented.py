"""The dialect page lists what the code does."""

from pathlib import Path

from collectord_adapters.claude_code import members

PAGE = (Path(__file__).parents[3] / "docs" / "dialects" / "claude-code.md").read_text("utf-8")


def test_every_listed_member_is_on_the_page() -> None:
    lists = [value for name, value in vars(members).items() if name in members.__all__]
    names = {
        name
        for value in lists
        for name in ([value] if isinstance(value, str) else value)
        if isinstance(name, str)
    }

    assert len(names) > 90
    assert sorted(name for name in names if f"`{name}`" not in PAGE) == []
