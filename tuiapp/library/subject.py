"""`Subject`: what a report is of, as far as the events do not say."""

from __future__ import annotations

from dataclasses import dataclass

from engine.metrics import Slo
from engine.runners.parts import ModelSpec
from tuiapp.presets import Preset

NO_SLO = Slo()


@dataclass(frozen=True, slots=True)
class Subject:
    """One run, named.

    Attributes:
        title: for people.
        preset: the preset that was played, or None where it was no preset.
        variant: which of the engines that the preset compares; empty for its own.
        workload: the name of what was played; empty where users alone asked.
        is_over: every request was answered; else the numbers are those so far.
        is_whole: the events reach back to where the run began.
        is_watched: a screen was drawn meanwhile, in the same process.
        spec: what the engine was built from, to build it again; None where nobody knows.
        speed: how many times as fast as they should the requests arrived.
    """

    title: str
    preset: Preset | None = None
    variant: str = ""
    workload: str = ""
    slo: Slo = NO_SLO
    is_over: bool = True
    is_whole: bool = True
    seed: int | None = None
    speed: float = 1.0
    is_watched: bool = False
    spec: ModelSpec | None = None


def subject_of(preset: Preset, variant: str = "") -> Subject:
    """The run of a preset."""
    return Subject(
        title=preset.about.title,
        preset=preset,
        variant=variant,
        workload=preset.name,
        slo=preset.slo,
        seed=preset.about.seed,
    )
