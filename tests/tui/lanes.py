"""Comparisons on a whole engine without a thread, run to their end."""

from __future__ import annotations

from pathlib import Path

from engine.runners.parts import ModelSpec
from tests.studies import TEXT
from tests.tui.stage import StageBackend
from tuiapp.lanes import Comparison
from tuiapp.presets.parse import parse

SPEC = ModelSpec(device="sim:linear")


def preset_of(text=TEXT):
    return parse(text, Path("small.toml"))


def compare(contest, backend=None, spec=SPEC):
    """A comparison that has run to its end."""
    backend = backend or StageBackend()
    return finish(Comparison(contest, spec, backend.lend), backend)


def finish(comparison, backend):
    comparison.poll()
    while comparison.is_running:
        backend.run(50)
        comparison.poll()
    return comparison
