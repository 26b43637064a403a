"""`Dialog`: a modal with a frame, closed by escape or by a click beside it."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tuiapp.keys import spell_keys
from tuiapp.screens.hint import fit_hint, link_hint

T = TypeVar("T")
CORNERS = 6  # cells of the border beside a hint


class Dialog(ModalScreen[T]):
    """Subclasses yield their parts from `compose_body`.

    Args:
        title: in the upper border.
        hint: the keys, in the lower border.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]
    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 55%; }
    Dialog > #dialog {
        width: 92; max-width: 100%;
        height: auto; max-height: 100%;
        background: $surface;
        border: round $border;
        border-title-color: $primary;
        border-subtitle-color: $muted;
        padding: 0 1;
    }
    """

    def __init__(self, title: str, hint: str) -> None:
        super().__init__()
        self._title = title
        self._hint = hint

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog") as frame:
            frame.border_title = Content(self._title)
            yield from self.compose_body()

    @on(events.Resize)
    def _fit_hint(self) -> None:
        self.call_after_refresh(self.show_hint, self._hint)

    def show_hint(self, hint: str) -> None:
        """Name the keys in the lower border, to be pressed or clicked.

        As many as have room, and always the last one.
        """
        self._hint = hint
        shown = spell_keys(hint) if getattr(self.app, "ascii_only", False) else hint
        frame = self.query_one("#dialog")
        fitting = fit_hint(shown, frame.outer_size.width - CORNERS)
        frame.border_subtitle = link_hint(fitting, self.active_bindings)

    def compose_body(self) -> ComposeResult:
        """What stands inside the frame."""
        yield from ()

    def on_click(self, event: events.Click) -> None:
        if not self.query_one("#dialog").region.contains_point(event.screen_offset):
            self.action_press("escape")

    def action_press(self, key: str) -> None:
        """Press a key for the mouse; from the app, whose events no widget takes for its own."""
        self.app.call_later(self.app.simulate_key, key)

    def action_close(self) -> None:
        self.dismiss()
