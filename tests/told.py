"""Outcomes with given numbers, as if a device had been measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.runners.parts import ModelSpec
from tests.studies import TEXT
from tuiapp.presets.parse import parse
from tuiapp.running.headless import run_preset
from tuiapp.running.outcome import Outcome, unite

PRESET = parse(TEXT, Path("small.toml"))


class Told:
    """A report in which some numbers are as given, and the others those of another report."""

    def __init__(self, report, numbers):
        self._report = report
        self._numbers = numbers

    def value(self, metric, label=""):
        return self._numbers.get(metric, self._report.value(metric, label))

    def __getattr__(self, name):
        return getattr(self._report, name)


def measured(name: str, *runs: dict[str, float]) -> Outcome:
    """An outcome of so many runs of a device, with these numbers."""
    outcome = run_preset(
        PRESET, name, PRESET.settings("continuous"), ModelSpec(device="sim:linear")
    )
    info = replace(outcome.info, is_simulated=False)
    return unite([replace(outcome, info=info, report=Told(outcome.report, each)) for each in runs])
