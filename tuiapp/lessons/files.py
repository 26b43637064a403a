"""Where the lessons lie, and how they are read."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from engine.config import ConfigError, build, suggest
from tuiapp.lessons.lesson import Lesson
from tuiapp.presets import Preset, find_preset
from tuiapp.presets.files import shipped_folder

FOLDER = Path(__file__).parent
PRESETS = FOLDER / "presets"  # shorter than the shipped ones, so that nobody waits long


@dataclass(frozen=True, slots=True)
class Course:
    """All lessons, in their order."""

    lessons: tuple[Lesson, ...]


def read_course(folder: Path = FOLDER) -> Course:
    """Read every lesson, in the order of the numbers in their files' names.

    Raises:
        ConfigError: a file is wrong.
    """
    return Course(tuple(_read(path) for path in sorted(folder.glob("*.toml"))))


def find_lesson_preset(lesson: Lesson) -> Preset:
    """The preset that a lesson plays.

    Raises:
        ConfigError: there is none of that name, or it has no such variants or labels.
    """
    preset = find_preset(lesson.preset, (shipped_folder(), PRESETS))
    for run in lesson.runs:
        preset.find_variant(run)
    for label in (lesson.measure.label, *(figure.label for figure in lesson.figures)):
        if label and label not in preset.labels:
            hint = suggest(label, preset.labels)
            raise ConfigError(f"{preset.name} has no requests labelled {label!r}; {hint}")
    return preset


def _read(path: Path) -> Lesson:
    try:
        lesson = build(Lesson, tomllib.loads(path.read_text("utf-8")), path.name)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"this is no TOML: {error}", place=path.name) from error
    wanted = path.stem.partition("-")[2]
    if lesson.id != wanted:
        raise ConfigError(f"must be {wanted!r}, as the file is called", ("id",), path.name)
    return lesson
