"""Lessons: a question, a prediction, a run that answers it."""

from __future__ import annotations

from tuiapp.lessons.answer import show_answer, show_number
from tuiapp.lessons.files import Course, find_lesson_preset, read_course
from tuiapp.lessons.lesson import Choice, Figure, Lesson, Measure
from tuiapp.lessons.run import LessonRun, Progress

__all__ = [
    "Choice",
    "Course",
    "Figure",
    "Lesson",
    "LessonRun",
    "Measure",
    "Progress",
    "find_lesson_preset",
    "read_course",
    "show_answer",
    "show_number",
]
