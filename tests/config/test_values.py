"""Durations and sizes survive being written down, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectord.config.model import Landing, Watch, settings_of
from collectord.config.values import format_bytes, format_duration, from_text, from_toml, to_toml

SIZE = next(each for each in settings_of(Landing) if each.key == "max_file_bytes")
DURATION = next(each for each in settings_of(Watch) if each.key == "settle")


@given(st.integers(4096, 1 << 40))
def test_a_size_comes_back_as_it_was(size: int) -> None:
    assert from_toml(SIZE, format_bytes(size)) == size
    assert from_toml(SIZE, size) == size


@given(st.one_of(st.integers(0, 10**7).map(float), st.floats(0, 1e6, allow_subnormal=False)))
def test_a_duration_comes_back_as_it_was(seconds: float) -> None:
    assert from_toml(DURATION, format_duration(seconds)) == pytest.approx(seconds, abs=1e-9)
    assert from_toml(DURATION, seconds) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("1h30m", 5400), ("1h 30m", 5400), ("1.5m", 90), ("250ms", 0.25), ("12", 12)],
)
def test_durations_as_people_write_them(text: str, seconds: float) -> None:
    assert from_text(DURATION, text) == seconds


@pytest.mark.parametrize("text", ["", "m", "5 parsecs", "-5s", "5m5", "1e9", "5m!", "٣s"[1:]])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="wanted a duration"):
        from_text(DURATION, text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("8192", 8192), ("8 KiB", 8192), ("8kib", 8192), ("1 MB", 10**6), ("1.5 MiB", 3 << 19)],
)
def test_sizes_as_people_write_them(text: str, size: int) -> None:
    assert from_text(SIZE, text) == size


@pytest.mark.parametrize("text", ["", "KiB", "5 XiB", "0.0001 KiB", "0x10", "1e400"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="wanted a size"):
        from_text(SIZE, text)


def test_numbers_without_bound_are_refused() -> None:
    with pytest.raises(ValueError, match="wanted at most 1024 GiB"):
        from_text(SIZE, "9" * 400)
    with pytest.raises(ValueError, match="wanted a duration"):
        from_text(DURATION, "9" * 400)


@given(st.text())
def test_any_text_is_written_as_toml_that_reads_back(text: str) -> None:
    import tomllib

    owner = next(each for each in settings_of(Landing) if each.key == "owner")
    assert tomllib.loads(f"x = {to_toml(owner, text)}")["x"] == text
