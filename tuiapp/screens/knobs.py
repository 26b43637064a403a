"""Every setting of the engine, to turn live, beside what other systems call it."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from engine.config import ConfigError
from engine.settings import EngineSettings
from tuiapp.keys import Keys
from tuiapp.knobs import (
    Dialect,
    Knob,
    System,
    change,
    leading,
    list_knobs,
    matters,
    next_system,
    nudge,
    read_dialects,
    read_systems,
    show_value,
    system_of,
)
from tuiapp.screens.commands import CommandsScreen
from tuiapp.screens.dialog import Dialog
from tuiapp.screens.live_keys import KEYS, closing
from tuiapp.widgets.field import Field

LINE_WIDTH = 39  # a name and, at the right, its value
NARROW = 50  # cells; a dialect's name then gets a line of its own


class Tunable(Protocol):
    """Whatever has settings that can be changed: a live engine, or a lane that is to run."""

    @property
    def settings(self) -> EngineSettings: ...

    def configure(self, settings: EngineSettings) -> None: ...


class KnobsScreen(Dialog[str]):
    """Settings on the left, what the chosen one is and is called elsewhere on the right.

    It is dismissed with the name of the chosen one.

    Args:
        keys: to name in its hints.
        chosen: where to begin; empty is with the first of the batcher's own.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        closing("knobs"),
        Binding("q", "close", "Close"),
        Binding("left", "turn(-1)", "Less"),
        Binding("right", "turn(1)", "More"),
        Binding(KEYS["system"], "system", "Named system", id="system"),
        Binding("y", "commands", "Command lines"),
    ]
    DEFAULT_CSS = """
    KnobsScreen > #dialog { width: 118; height: 28; }
    KnobsScreen #system { height: auto; max-height: 6; margin-bottom: 1; }
    KnobsScreen #columns { height: 1fr; }
    KnobsScreen OptionList {
        width: 42; height: 100%; border: none; background: $surface; scrollbar-size-vertical: 1;
    }
    KnobsScreen #about { width: 1fr; height: 100%; margin-left: 2; scrollbar-size-vertical: 1; }
    KnobsScreen #row { height: 2; margin-top: 1; }
    KnobsScreen #row Label { width: auto; color: $muted; margin-right: 1; }
    KnobsScreen #row Input { width: 16; }
    KnobsScreen #problem { width: 1fr; margin-left: 2; color: $muted; }
    KnobsScreen #problem.-wrong { color: $error; }
    """

    def __init__(self, subject: Tunable, keys: Keys, chosen: str = "") -> None:
        hint = f"←→ turn   ⏎ type   {keys['system']} named system   y command lines   esc close"
        super().__init__("knobs", hint)
        self._keys = keys
        self._subject = subject
        self._first = chosen or leading(subject.settings)
        self._knobs = list_knobs()
        self._dialects = read_dialects()
        self._systems = read_systems()

    def compose_body(self) -> ComposeResult:
        yield Static(id="system", markup=False)
        with Horizontal(id="columns"):
            options = [Option(Content(knob.name), id=knob.name) for knob in self._knobs]
            yield OptionList(*options, markup=False, compact=True)
            with VerticalScroll(id="about", can_focus=False):
                yield Static(id="details", markup=False)
        with Horizontal(id="row"):
            yield Label("set to")
            yield Field(id="value", compact=True)
            yield Static(id="problem", markup=False)

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.focus()
        options.highlighted = [knob.name for knob in self._knobs].index(self._first)
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def action_close(self) -> None:
        """Leave the field, and then the panel."""
        options = self.query_one(OptionList)
        if options.has_focus:
            self.dismiss(self._knob.name)
        else:
            options.focus()
            self._show()

    def action_turn(self, steps: int) -> None:
        try:
            self._apply(nudge(self._subject.settings, self._knob, steps))
        except ConfigError as error:
            self._complain(error.problem)

    def action_system(self) -> None:
        """Schedule as the next of the named systems would."""
        settings = self._subject.settings
        try:
            self._apply(next_system(settings, self._systems).apply(settings))
        except ConfigError as error:
            self._complain(error.problem)

    def action_commands(self) -> None:
        self.app.push_screen(CommandsScreen(self._dialects, self._subject.settings))

    @on(OptionList.OptionHighlighted)
    def _choose(self, event: OptionList.OptionHighlighted) -> None:
        self._show()

    @on(OptionList.OptionSelected)
    def _edit(self, event: OptionList.OptionSelected) -> None:
        self.query_one("#value", Input).focus()

    @on(Input.Submitted)
    def _set(self, event: Input.Submitted) -> None:
        try:
            self._apply(change(self._subject.settings, self._knob, event.value))
        except ConfigError as error:
            self._complain(error.problem)
        else:
            self.query_one(OptionList).focus()

    @property
    def _knob(self) -> Knob:
        return self._knobs[self.query_one(OptionList).highlighted or 0]

    def _apply(self, settings: EngineSettings) -> None:
        if settings != self._subject.settings:
            self._subject.configure(settings)
        self._show()

    def _complain(self, problem: str) -> None:
        text = self.query_one("#problem", Static)
        text.add_class("-wrong")
        text.update(Content(problem))

    def _show(self) -> None:
        """Draw every value, and what belongs to the chosen knob."""
        settings, options = self._subject.settings, self.query_one(OptionList)
        for index, knob in enumerate(self._knobs):
            options.replace_option_prompt_at_index(index, _line(knob, settings))
        system = system_of(settings, self._systems)
        self.query_one("#system", Static).update(_describe(system, self._systems, self._keys))
        details = self.query_one("#details", Static)
        is_narrow = self.query_one("#about").size.width < NARROW
        details.update(_details(self._knob, settings, self._dialects, is_narrow=is_narrow))
        value = show_value(getattr(settings, self._knob.name))
        self.query_one("#value", Input).value = value
        problem = self.query_one("#problem", Static)
        problem.remove_class("-wrong")
        problem.update(Content(self._knob.bounds))


def _line(knob: Knob, settings: EngineSettings) -> Content:
    """A knob's name and value, dim where it has no effect."""
    value = show_value(getattr(settings, knob.name)).rjust(LINE_WIDTH - len(knob.name))
    if not matters(settings, knob.name):
        return Content.styled(f"{knob.name}{value}", "$muted")
    return Content.assemble(knob.name, (value, "bold"))


def _describe(system: System | None, systems: tuple[System, ...], keys: Keys) -> Content:
    """Which named system the settings stand for, and how far."""
    if system is None:
        names = ", ".join(each.name for each in systems)
        return Content.assemble(
            ("no named system", "bold"), (f"; {keys['system']} goes through {names}", "$muted")
        )
    return Content("\n").join(
        [
            Content.assemble((system.name, "bold $accent"), (f"  {system.title}", "bold")),
            Content.assemble(("the same: ", "$success"), system.same),
            Content.assemble(("not the same: ", "$warning"), system.differs),
        ]
    )


def _details(
    knob: Knob, settings: EngineSettings, dialects: tuple[Dialect, ...], *, is_narrow: bool
) -> Content:
    """What the knob does, and what it is called elsewhere."""
    lines = [Content.styled(knob.name, "bold $primary"), Content(knob.text)]
    if not matters(settings, knob.name):
        lines.append(Content.styled("no effect beside the other settings of now", "$warning"))
    lines.append(Content(""))
    for dialect in dialects:
        text = dialect.explain(knob.name, settings)
        gap = "\n  " if is_narrow else " " * (14 - len(dialect.name))
        style = "$muted" if text.startswith("not available") else ""
        lines.append(Content.assemble((dialect.name, "bold"), gap, (text, style)))
    return Content("\n").join(lines)
