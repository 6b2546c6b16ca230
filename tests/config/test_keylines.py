"""The line of a key, in the ways in which people write TOML."""

from collectord.config.keylines import key_lines, line_of

TEXT = """\
# a comment = 1
top = 1
[landing]   # the table
root = "/x"  # [no.table]
  "max_file_bytes" = 3

[adapters."claude-code"]
roots = [
  "a = b",
  "[c]",
]
watch.settle = 1
[[list]]
x = 1
"""


def test_each_key_is_on_its_line() -> None:
    lines = key_lines(TEXT)
    assert lines["top",] == 2
    assert lines["landing",] == 3
    assert lines["landing", "root"] == 4
    assert lines["landing", "max_file_bytes"] == 5
    assert lines["adapters", "claude-code"] == 7
    assert lines["adapters", "claude-code", "roots"] == 8
    assert lines["adapters", "claude-code", "watch", "settle"] == 12
    assert lines["list", "x"] == 14


def test_a_key_without_a_line_of_its_own_has_the_one_around_it() -> None:
    lines = key_lines("landing = {root = '/x'}\n")
    assert line_of(lines, ("landing", "root")) == 1
    assert line_of(lines, ("other",)) == 0
