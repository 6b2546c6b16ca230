"""What is packed: two importable names, the files that code reads, and the doors into it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of this checkout, built without a network."""
    target = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (built,) = target.glob("*.whl")
    return zipfile.ZipFile(built)


def info(wheel: zipfile.ZipFile, name: str) -> str:
    (path,) = [each for each in wheel.namelist() if each.endswith(f".dist-info/{name}")]
    return wheel.read(path).decode()


def test_the_wheel_has_two_top_level_names(wheel: zipfile.ZipFile) -> None:
    """``adapters`` is a folder of the checkout; on PyPI that import name is somebody else's."""
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {
        "collectord",
        "collectord_adapters",
    }


def test_every_file_of_the_packages_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    for name, folder in (("collectord", CHECKOUT), ("collectord_adapters", CHECKOUT / "adapters")):
        wanted = {
            path.relative_to(folder).as_posix()
            for path in (folder / name).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert wanted == {each for each in wheel.namelist() if each.split("/")[0] == name}


@pytest.mark.parametrize(
    "name",
    [
        "collectord/sessiondata/schema.json",
        "collectord/py.typed",
        "collectord_adapters/py.typed",
    ],
)
def test_what_code_and_type_checkers_read_is_in_the_wheel(
    wheel: zipfile.ZipFile, name: str
) -> None:
    assert name in wheel.namelist()


def test_the_commented_configuration_travels_along(wheel: zipfile.ZipFile) -> None:
    assert [
        name
        for name in wheel.namelist()
        if name.endswith(".data/data/share/collectord/config/collectord.toml")
    ]


def test_the_doors_are_declared(wheel: zipfile.ZipFile) -> None:
    lines = info(wheel, "entry_points.txt").splitlines()
    scripts, adapters = lines.index("[console_scripts]"), lines.index("[collectord.adapters]")
    assert lines[scripts + 1] == "collectord = collectord.__main__:main"
    assert lines[adapters + 1] == "claude-code = collectord_adapters.claude_code:ADAPTER"


def test_the_metadata_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    text = info(wheel, "METADATA")
    assert "\nName: collectord\n" in text and "\nLicense-Expression: Apache-2.0\n" in text
    assert "\nRequires-Python: >=3.11\n" in text
    assert info(wheel, "licenses/LICENSE").lstrip().startswith("Apache License")


def test_the_wheel_runs_from_elsewhere(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Unpacked, and far from the checkout, the public door opens and the schema is found."""
    wheel.extractall(tmp_path / "site")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n"
        "import collectord.sessiondata as sd, collectord_adapters\n"
        "assert sd.json_schema()['$defs'], sd.__file__\n"
        "print(sd.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(tmp_path))
