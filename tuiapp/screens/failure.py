"""The modal that says that a pass failed, or that the engine has ended."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from tuiapp.screens.dialog import Dialog
from tuiapp.text import clean
from tuiapp.view.snapshot import Notice

GOES_ON = (
    "The requests of that pass ended with an error and gave back their KV blocks. "
    "Everything else goes on, and new requests are taken."
)
ENDED = "The engine has stopped; nothing more will be computed. q leaves batchscope."


class FailureScreen(Dialog[None]):
    """What went wrong, what became of the requests, and what can be done."""

    BINDINGS = [Binding("enter", "close", "Close"), Binding("q", "app.quit", "Quit")]
    DEFAULT_CSS = """
    FailureScreen > #dialog { width: 72; border: round $error; border-title-color: $error; }
    FailureScreen #message { margin: 1 0; }
    FailureScreen #after { color: $muted; margin-bottom: 1; }
    """

    def __init__(self, notice: Notice) -> None:
        title = "the engine has stopped" if notice.is_fatal else "a forward pass failed"
        super().__init__(title, "esc close   q quit")
        self._notice = notice

    def compose_body(self) -> ComposeResult:
        yield Static(Content(clean(self._notice.message)), id="message")
        yield Static(Content(ENDED if self._notice.is_fatal else GOES_ON), id="after")
