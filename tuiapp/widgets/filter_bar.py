"""`FilterBar`: a line to type a filter into, with the number of requests that match."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from tuiapp.widgets.field import Field

PLACEHOLDER = "id, label, state (waiting, decode, held, …) or text"


class FilterBar(Horizontal):
    """Hidden while there is no filter; enter goes back to the screen and keeps it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", "No filter", show=False)]
    DEFAULT_CSS = """
    FilterBar { height: 1; display: none; background: $panel; }
    FilterBar.-open { display: block; }
    FilterBar #sign { width: 4; padding: 0 1; color: $accent; }
    FilterBar Input { width: 1fr; background: $panel; }
    FilterBar #count { width: auto; padding: 0 1; color: $muted; }
    """

    class Changed(Message):
        """Another filter is wanted; empty for none."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    def compose(self) -> ComposeResult:
        yield Static("/", id="sign", markup=False)
        yield Field(placeholder=PLACEHOLDER, id="filter", compact=True)
        yield Static(id="count", markup=False)

    def open(self) -> None:
        """Show the line and begin to type."""
        self.add_class("-open")
        self.query_one(Input).focus()

    def close(self) -> None:
        """Hide the line, and want no filter."""
        self.remove_class("-open")
        self.query_one(Input).value = ""
        self.screen.set_focus(None)

    def count(self, text: str) -> None:
        """Say how many match."""
        shown = self.query_one("#count", Static)
        if str(shown.content) != text:
            shown.update(Content(text))

    def action_clear(self) -> None:
        self.close()

    @on(Input.Changed)
    def _change(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    @on(Input.Submitted)
    def _keep(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value:
            self.screen.set_focus(None)
        else:
            self.close()
