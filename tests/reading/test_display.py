"""A record as text: nothing that a terminal obeys, and always how much is not shown."""

import re

import hypothesis.strategies as st
import msgspec
from hypothesis import given

from collectord.reading.display import blocks, one_line, visible, who
from collectord.reading.raw import for_terminal
from collectord.sessiondata import Dropped, Line, Part, Range, Record, encode
from tests.reading.growing import data_part, record

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

nasty = st.text(
    st.one_of(
        st.sampled_from("\x1b[31m\x07\x9b\x7f\r\n\t\u202e\u2066\u200f\x00"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)


def line(*parts: Part, **fields: object) -> Line:
    made = record(1, **fields)  # type: ignore[arg-type]
    made.parts = list(parts)
    return Line(2, 0, 1, made)


def text(content: str) -> Part:
    return Part(k="text", text=content, state="available", bytes=len(content.encode()))


@given(nasty, nasty, st.booleans())
def test_nothing_that_a_terminal_obeys_is_shown(content: str, name: str, full: bool) -> None:
    parts = [
        text(content),
        Part(
            k="call", name=name, data=msgspec.Raw(msgspec.json.encode(content)), state="x", bytes=1
        ),
        Part(k=name or "k", text=content, state=name, bytes=3),
        Part(k="media", media=name, state="available", bytes=3),
    ]
    made = line(*parts)
    made.record.dropped = [Dropped(name, 1, content)]
    for block in blocks(made, full=full):
        for shown in block:
            assert not OBEYED.search(shown)
        assert "\n" not in block.title + block.note
    assert not OBEYED.search(one_line(made) + who(Record(from_=name)))
    assert "\n" not in one_line(made)


@given(nasty)
def test_a_landed_line_for_a_terminal_means_the_same(content: str) -> None:
    landed = encode(record(1, content or "x"))
    shown = for_terminal(landed)
    assert not OBEYED.search(
        shown.replace("\u061c", "").replace("\u2028", "").replace("\u2029", "")
    )
    assert msgspec.json.decode(shown.encode()) == msgspec.json.decode(landed)


def test_controls_stay_visible() -> None:
    assert visible("a\x1b[2Jb\x9bc\u202ed\r\ne\rf") == "a\\x1b[2Jb\\x9bc\\u202ed\ne\\x0df"


def test_a_long_text_says_how_much_is_missing_unless_all_is_asked_for() -> None:
    content = "\n".join(f"line {number}" for number in range(40))
    (short,) = blocks(line(text(content)))
    assert content.startswith(short.text)
    assert f"{len(content) - len(short.text)} more characters" in short.note
    (whole,) = blocks(line(text(content)), full=True)
    assert (whole.text, whole.note) == (content, "")


def test_a_part_that_holds_less_than_the_original_says_so() -> None:
    part = Part(k="result", text="some", state="truncated", bytes=1_100_000)
    (block,) = blocks(line(part))
    assert block.note == "truncated, 1,100,000 bytes in the original"


def test_structure_beside_content_is_shown_in_full_only() -> None:
    both = line(text("said"), data_part('{"cwd":"/x"}'))
    assert [block.text for block in blocks(both)] == ["said"]
    assert [block.text for block in blocks(both, full=True)] == ["said", '{"cwd":"/x"}']
    alone = line(data_part('{"n":1.10}'))
    assert [block.text for block in blocks(alone)] == ['{"n":1.10}']


def test_data_that_stayed_in_the_file_is_told_by_its_place() -> None:
    part = Part(k="unknown", data=msgspec.Raw(b'""'), state="available", bytes=5_000_000)
    (block,) = blocks(Line(2, 0, 5_000_100, line(part).record, Range(90, 5_000_090)))
    assert block.note == "5,000,000 bytes, at byte 90 to 5,000,090 of the file"


def test_a_sender_is_named_as_a_person_would() -> None:
    result = Part(k="result", text="x", state="available", bytes=1)
    assert who(line(text("x")).record) == "agent"
    assert who(line(text("x"), from_="external", trigger="external").record) == "person"
    assert who(line(text("x"), from_="external").record) == "external"
    assert who(line(result, from_="external").record) == "tool"
    assert who(line(result, data_part("{}"), from_="external").record) == "tool"
    assert who(line(text("x"), from_="runtime").record) == "runtime"
