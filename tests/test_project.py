"""Facts about the project that no module can check: what it declares, ships and promises."""

from __future__ import annotations

import os
import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tuiapp.presets import list_presets

ROOT = Path(__file__).parent.parent
SHIPPED = ("engine", "tuiapp", "presets", "tests", ".ci")
TOP_LEVEL = ("README.md", "pyproject.toml", "constraints.txt")
MACHINE_PATH = re.compile(r"(?<![\w.~/])/(?:root|work|farm|home/\w+|Users/\w+)/[\w.]")
TEST_COMMAND = (
    'python3 -m venv .venv && .venv/bin/pip install -c constraints.txt -e ".[dev]" '
    "&& .venv/bin/python -m pytest"
)


def read_pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def read_constraints() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin.name): Version(str(pin.specifier)[2:]) for pin in pins}


def declared() -> list[Requirement]:
    project = read_pyproject()["project"]
    return [
        Requirement(r) for r in project["dependencies"] + project["optional-dependencies"]["dev"]
    ]


def texts() -> list[tuple[str, str]]:
    """Every text file of the project, by its path."""
    paths = [path for folder in SHIPPED for path in (ROOT / folder).rglob("*") if path.is_file()]
    found = []
    for path in [*paths, *(ROOT / name for name in TOP_LEVEL)]:
        if "__pycache__" in path.parts:
            continue
        try:
            found.append((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:  # weights and the like
            continue
    return found


def test_the_readme_gives_the_test_command():
    assert TEST_COMMAND in (ROOT / "README.md").read_text().splitlines()


def test_ci_runs_the_command_that_the_readme_gives():
    script = (ROOT / ".ci" / "run").read_text()
    pattern = re.search(r"grep -m1 -o '([^']+)' README.md", script)
    assert pattern
    matches = re.findall(pattern[1], (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert matches == [TEST_COMMAND]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_no_file_knows_a_path_of_somebodys_machine():
    found = [name for name, text in texts() if MACHINE_PATH.search(text)]
    assert found == []


def test_a_path_of_a_machine_would_be_noticed():
    assert MACHINE_PATH.search('open("/' + 'home/somebody/model.bin")')
    assert not MACHINE_PATH.search("https://example.org/home/page and ./work/x and a/root/b")


@pytest.mark.parametrize("requirement", declared(), ids=lambda requirement: requirement.name)
def test_what_is_declared_is_pinned_to_a_version_that_it_allows(requirement: Requirement):
    pin = read_constraints()[canonicalize_name(requirement.name)]
    assert pin in requirement.specifier


def test_the_pins_name_no_build_of_one_platform():
    assert {name for name, pin in read_constraints().items() if pin.local} == set()


def test_the_wheel_carries_the_presets_and_the_model():
    targets = read_pyproject()["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["packages"] == ["engine", "tuiapp"]
    assert targets["wheel"]["force-include"] == {"presets": "tuiapp/_presets"}
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        assert (files("engine") / "models" / "tiny" / name).is_file()


def test_every_preset_is_shipped():
    names = sorted(path.stem for path in (ROOT / "presets").glob("*.toml"))
    assert len(names) >= 5
    shelf = list_presets((ROOT / "presets",))
    assert sorted(preset.name for preset in shelf.presets) == names
    assert shelf.errors == ()
