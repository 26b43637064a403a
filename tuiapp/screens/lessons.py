"""The list of lessons."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from engine.config import ConfigError
from tuiapp.lessons import Lesson, LessonRun, find_lesson_preset, read_course
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.lesson import LessonScreen
from tuiapp.screens.live_keys import closing
from tuiapp.session import Session
from tuiapp.text import one_line
from tuiapp.view.snapshot import Snapshot


class LessonsScreen(Dialog[None]):
    """Eight short stories: a question, a prediction, a run.

    Args:
        snapshot: the state of the engine at this moment.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        closing("lessons"),
        Binding("q", "close", "Close"),
        *(Binding(str(number), f"begin({number})", "Begin") for number in range(1, 10)),
    ]
    DEFAULT_CSS = """
    LessonsScreen > #dialog { width: 76; }
    LessonsScreen OptionList {
        height: auto; border: none; background: $surface; margin: 1 0; scrollbar-size-vertical: 0;
    }
    """

    def __init__(self, session: Session, snapshot: Callable[[], Snapshot]) -> None:
        lessons = read_course().lessons
        super().__init__(
            "lessons: predict, then see", f"1-{len(lessons)} or ⏎ begin   ↑↓ choose   esc close"
        )
        self._session = session
        self._snapshot = snapshot
        self._lessons = {lesson.id: lesson for lesson in lessons}

    def compose_body(self) -> ComposeResult:
        options = [
            Option(Content.assemble((f" {number}  ", "bold"), lesson.title), id=lesson.id)
            for number, lesson in enumerate(self._lessons.values(), start=1)
        ]
        yield OptionList(*options, markup=False, compact=True)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def action_begin(self, number: int) -> None:
        """Begin the lesson of that number in the list, counted from 1."""
        if number <= len(self._lessons):
            self._begin([*self._lessons.values()][number - 1])

    @on(OptionList.OptionSelected)
    def _begin_selected(self, event: OptionList.OptionSelected) -> None:
        self._begin(self._lessons[event.option_id or ""])

    def _begin(self, lesson: Lesson) -> None:
        info = self._snapshot().info
        if info is None:
            return
        try:
            preset = find_lesson_preset(lesson)
        except ConfigError as error:
            self.notify(one_line(str(error)), severity="error", markup=False)
            return
        run = LessonRun(self._session, info, lesson, preset)
        self.app.switch_screen(LessonScreen(lesson, run))
