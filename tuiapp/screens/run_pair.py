"""Two kept runs side by side, with ratios."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tuiapp.library.alike import differences
from tuiapp.library.entry import Entry
from tuiapp.screens.dialog import Dialog
from tuiapp.widgets.run_rows import draw_pair


class RunPairScreen(Dialog[bool]):
    """The older one is the measure; dismissed with whether to show them as lanes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,c,enter", "close", "Close"),
        Binding("l", "lanes", "Lanes"),
    ]
    DEFAULT_CSS = """
    RunPairScreen #pair { height: auto; max-height: 1fr; margin-top: 1; }
    RunPairScreen #pair { scrollbar-size-vertical: 1; }
    """

    def __init__(self, first: Entry, second: Entry) -> None:
        super().__init__("two runs", "l lanes on one time axis   esc close")
        self._first, self._second = first, second

    def compose_body(self) -> ComposeResult:
        lines = [draw_pair(self._first, self._second)]
        if found := differences(self._first, self._second):
            lines.append(Content.styled(f"\nmind: {', '.join(found)}", "$warning"))
        with VerticalScroll(id="pair"):
            yield Static(Content("\n").join(lines), markup=False)

    def action_lanes(self) -> None:
        self.dismiss(True)
