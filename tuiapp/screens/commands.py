"""The settings of this moment as other systems' command lines, to copy."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from engine.settings import EngineSettings
from tuiapp.knobs import Dialect
from tuiapp.screens.dialog import Dialog


class CommandsScreen(Dialog[None]):
    """Systems on the left, what to write there on the right."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y,q", "close", "Close")]
    DEFAULT_CSS = """
    CommandsScreen > #dialog { width: 108; }
    CommandsScreen #columns { height: 18; max-height: 1fr; margin-top: 1; }
    CommandsScreen OptionList { width: 16; height: 100%; border: none; background: $surface; }
    CommandsScreen #about { width: 1fr; height: 100%; margin-left: 2; }
    """

    def __init__(self, dialects: tuple[Dialect, ...], settings: EngineSettings) -> None:
        super().__init__("the same elsewhere", "⏎ copy   ↑↓ choose   esc close")
        self._dialects = {dialect.name: dialect for dialect in dialects}
        self._settings = settings

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="columns"):
            options = [Option(Content(name), id=name) for name in self._dialects]
            yield OptionList(*options, markup=False, compact=True)
            with VerticalScroll(id="about", can_focus=False):
                yield Static(id="command", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionHighlighted)
    def _show(self, event: OptionList.OptionHighlighted) -> None:
        dialect = self._dialects[event.option_id or ""]
        lines = [
            Content.styled(line, "$muted" if line.startswith("#") else "bold")
            for line in dialect.write_command(self._settings).splitlines()
        ]
        checked = f"checked against {dialect.name} {dialect.version}: {dialect.source}"
        text = Content("\n").join([*lines, Content(""), Content.styled(checked, "$muted")])
        self.query_one("#command", Static).update(text)

    @on(OptionList.OptionSelected)
    def _copy(self, event: OptionList.OptionSelected) -> None:
        dialect = self._dialects[event.option_id or ""]
        self.app.copy_to_clipboard(dialect.write_command(self._settings))
        self.notify(f"{dialect.name}: copied", timeout=2, markup=False)
