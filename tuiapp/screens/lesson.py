"""One lesson: the question, the prediction, the runs, and what they showed."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tuiapp.lessons import Lesson, LessonRun, Progress, show_answer, show_number
from tuiapp.screens.dialog import Dialog
from tuiapp.text import one_line
from tuiapp.widgets.bars import bar

POLL_SECONDS = 0.25
BAR_WIDTH = 30


class LessonScreen(Dialog[None]):
    """Stands at the foot of the live screen, so that the runs can be watched.

    Args:
        run: plays the lesson; whatever happens, it is left when the screen closes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "predict(0)", "First"),
        Binding("2", "predict(1)", "Second"),
        Binding("3", "predict(2)", "Third"),
        Binding("q", "close", "Close"),
    ]
    DEFAULT_CSS = """
    LessonScreen { align: center bottom; background: transparent; }
    LessonScreen > #dialog { width: 118; }
    LessonScreen #lesson { height: auto; max-height: 1fr; scrollbar-size-vertical: 1; }
    """

    def __init__(self, lesson: Lesson, run: LessonRun) -> None:
        super().__init__(lesson.title, "1 2 3 predict   esc leave")
        self._lesson = lesson
        self._run = run
        self._prediction: int | None = None
        self._is_shown = False

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="lesson"):
            yield Static(_ask(self._lesson, None), id="text", markup=False)

    def on_mount(self) -> None:
        self.set_interval(POLL_SECONDS, self.poll)

    def on_unmount(self) -> None:
        if self.has_begun:
            self._run.leave()

    @property
    def has_begun(self) -> bool:
        """Whether what plays is the lesson's."""
        return self._prediction is not None

    def action_predict(self, choice: int) -> None:
        """Begin the runs; a prediction is made once."""
        if self._prediction is None:
            self._prediction = choice
            self._run.start()
            self.show_hint("esc leave")
            self.poll()

    def poll(self) -> None:
        """Follow the runs, and say at the end what they showed."""
        if self._prediction is None or self._is_shown:
            return
        progress, text = self._run.poll(), self.query_one("#text", Static)
        if progress.is_over:
            self._is_shown = True
            text.update(_reveal(self._lesson, self._run, self._prediction))
        else:
            text.update(_follow(self._lesson, self._prediction, progress))


def _ask(lesson: Lesson, prediction: int | None) -> Content:
    """The question, and the choices with the one that was made."""
    lines = [Content(one_line(lesson.question)), Content("")]
    for index, choice in enumerate(lesson.choices):
        is_chosen = index == prediction
        lines.append(
            Content.assemble(
                (f" {index + 1}  ", "bold $accent"),
                (choice.text, "bold" if is_chosen else ""),
                ("  ◂ you said" if is_chosen else "", "$accent"),
            )
        )
    return Content("\n").join(lines)


def _follow(lesson: Lesson, prediction: int, progress: Progress) -> Content:
    """The question again, and how far the runs are."""
    lines = [_ask(lesson, prediction), Content("")]
    for run in lesson.runs:
        if run == progress.run:
            filled, rest = bar(progress.num_done / max(1, progress.num_requests), BAR_WIDTH)
            count = f"  {progress.num_done} of {progress.num_requests} requests"
            picture = Content.assemble((filled, "$success"), (rest, "$faint"), count)
        else:
            is_done = lesson.runs.index(run) < lesson.runs.index(progress.run)
            picture = Content.styled("measured" if is_done else "to come", "$muted")
        lines.append(Content.assemble((f" {run:<12}", "bold"), picture))
    if progress.problem:
        problem = f"No answer here: {one_line(progress.problem)}"
        lines.append(Content.styled(problem, "$error"))
    return Content("\n").join(lines)


def _reveal(lesson: Lesson, run: LessonRun, prediction: int) -> Content:
    """What was measured, whether the prediction held, and what it means."""
    value = lesson.measure.value(run.reports)
    said, unlike = lesson.choices[prediction].text, ""
    if value is None:
        verdict = Content.styled("Not measured: nothing was delivered so.", "$warning")
    else:
        right = lesson.choices[lesson.right_choice(value)]
        measured = f"measured: {show_answer(lesson.measure, value)}, so {right.text}."
        is_right, unlike = right.text == said, one_line(right.unlike)
        verdict = Content.assemble(
            (f"You said: {said}; ", ""),
            (measured, "bold"),
            (" Right." if is_right else " Not this time.", "$success" if is_right else "$warning"),
        )
    return Content("\n").join(
        [
            verdict,
            Content(""),
            _table(lesson, run),
            Content(""),
            *([Content.styled(unlike, "$warning")] if unlike else []),
            Content(one_line(lesson.paragraph)),
            Content.styled(one_line(lesson.source), "$muted"),
        ]
    )


def _table(lesson: Lesson, run: LessonRun) -> Content:
    """A row a figure, a column a run."""
    width = max(len(figure.text) for figure in lesson.figures) + 2
    head = " " * width + "".join(f"{name:>14}" for name in lesson.runs)
    lines = [Content.styled(head, "bold $primary")]
    for figure in lesson.figures:
        values = (run.reports[name].value(figure.metric, figure.label) for name in lesson.runs)
        cells = "".join(f"{show_number(figure.metric, value):>14}" for value in values)
        lines.append(Content.assemble((f"{figure.text:<{width}}", "$muted"), (cells, "bold")))
    return Content("\n").join(lines)
