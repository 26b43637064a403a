"""A question before something is lost."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from tuiapp.screens.dialog import Dialog


class ConfirmScreen(Dialog[bool]):
    """Dismissed with True only by `y`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "confirm", "Yes"),
        Binding("n,q,enter", "close", "No"),
    ]
    DEFAULT_CSS = """
    ConfirmScreen > #dialog { width: 64; }
    ConfirmScreen Static { margin: 1 0; }
    """

    def __init__(self, title: str, question: str) -> None:
        super().__init__(title, "y yes   n, esc no")
        self._question = question

    def compose_body(self) -> ComposeResult:
        yield Static(Content(self._question), markup=False)

    def action_confirm(self) -> None:
        self.dismiss(True)
