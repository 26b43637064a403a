"""What really gets loaded in a clean interpreter, which the import contracts alone cannot see."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parent.parent
HEAVY = ("torch", "transformers", "textual")
TORCH_FLOORS = ("engine.runners", "engine.bench", "engine.recipe")  # alone may import torch
ENTRANCES = [
    "engine",
    "engine.assembly",
    "engine.backends.local",
    "engine.batchers",
    "engine.core",
    "engine.metrics",
    "engine.run",
    "engine.runners.sim",
    "engine.tokenizer",
    "tuiapp.cli.main",
    "tuiapp.running.headless",
    "tuiapp.presets",
    "tuiapp.view.viewmodel",
]


def modules_of(package: str) -> list[str]:
    """Every module below a package, by the files that are there."""
    files = sorted((ROOT / package).rglob("*.py"))
    parts = [file.relative_to(ROOT).with_suffix("").parts for file in files]
    return [".".join(part for part in names if part != "__init__") for names in parts]


LIGHT = [
    name
    for name in modules_of("engine")
    if not name.startswith(TORCH_FLOORS) or name == "engine.runners.sim"
]


def loaded_by(*modules: str, forbidden: tuple[str, ...] = HEAVY) -> str:
    """Import modules one by one in a fresh interpreter; name those that load what they must not."""
    code = f"""
import importlib, sys
for name in {modules!r}:
    before = set(sys.modules)
    importlib.import_module(name)
    for heavy in sorted({set(forbidden)!r} & (set(sys.modules) - before)):
        print(name, "loads", heavy)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("module", ENTRANCES)
def test_an_entrance_loads_neither_torch_nor_textual(module: str):
    assert loaded_by(module) == ""


def test_no_module_of_the_engine_below_the_torch_runner_loads_torch_or_textual():
    assert "engine.core" in LIGHT
    assert loaded_by(*LIGHT) == ""


def test_the_check_would_notice():
    assert loaded_by("engine.core", "wave", forbidden=("wave",)) == "wave loads wave\n"


def test_every_module_of_the_engine_stands_on_a_floor():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    floors = " | ".join(contracts["contracts"][0]["layers"]).split(" | ")
    there = {".".join(name.split(".")[:2]) for name in modules_of("engine")} - {"engine"}
    workshop = {"engine.recipe"}  # makes the shipped model; the product never enters it
    assert there - set(floors) == workshop


def test_the_floors_hold(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS
