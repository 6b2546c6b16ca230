"""What is checked in equals what the code says: the sample file and the reference."""

import re
import tomllib
from pathlib import Path

from collectord.config import Config, default_root, load
from collectord.config.model import SECTIONS, settings_of
from collectord.config.render import render_reference, render_sample

CHECKOUT = Path(__file__).parents[2]
REGENERATE = "python -m collectord.config.render > config/collectord.toml"


def test_the_checked_in_file_is_what_the_code_renders() -> None:
    checked_in = (CHECKOUT / "config" / "collectord.toml").read_text(encoding="utf-8")
    assert checked_in == render_sample(), f"to write it again: {REGENERATE}"


def test_the_sample_means_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "collectord.toml"
    file.write_text(render_sample(), encoding="utf-8")

    loaded = load(file, environ={})

    assert loaded.config == Config()
    assert loaded.warnings == ()
    assert set(loaded.origins.values()) == {"default"}


def test_the_sample_without_its_hashes_states_every_default(tmp_path: Path) -> None:
    text = re.sub(r"^#(?! |$)", "", render_sample(), flags=re.MULTILINE)
    text = re.sub(r'^root = ".*"$', f"root = '{default_root()}'", text, flags=re.MULTILINE)
    file = tmp_path / "collectord.toml"
    file.write_text(text, encoding="utf-8")

    loaded = load(file, environ={})

    assert loaded.warnings == ()
    assert loaded.config.landing == Config().landing
    assert loaded.config.watch == Config().watch
    assert loaded.config.limits == Config().limits
    assert loaded.config.log == Config().log
    assert loaded.config.adapters == {"NAME": Config().adapter("NAME")}
    assert "default" not in loaded.origins.values()


def test_every_key_says_what_it_is_for() -> None:
    for section in SECTIONS.values():
        for setting in settings_of(section):
            assert setting.doc.endswith("."), setting.key


def test_the_reference_in_the_docs_is_what_the_code_renders() -> None:
    page = (CHECKOUT / "docs" / "configuration.md").read_text(encoding="utf-8")
    wanted = render_reference()
    assert wanted in page, f"docs/configuration.md wants this table:\n{wanted}"
    assert page.count("| `landing.") == wanted.count("| `landing.")


def test_the_toml_in_the_docs_is_right(tmp_path: Path) -> None:
    page = (CHECKOUT / "docs" / "configuration.md").read_text(encoding="utf-8")
    examples = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert examples
    for number, example in enumerate(examples):
        tomllib.loads(example)
        file = tmp_path / f"{number}.toml"
        file.write_text(example, encoding="utf-8")
        assert load(file, environ={}).warnings == ()
