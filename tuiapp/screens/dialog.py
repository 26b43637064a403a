"""`Dialog`: a modal with a frame, closed by escape."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tuiapp.keys import spell_keys

T = TypeVar("T")


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
            hint = spell_keys(self._hint) if getattr(self.app, "ascii_only", False) else self._hint
            frame.border_subtitle = Content(hint)
            yield from self.compose_body()

    def compose_body(self) -> ComposeResult:
        """What stands inside the frame."""
        yield from ()

    def action_close(self) -> None:
        self.dismiss()
