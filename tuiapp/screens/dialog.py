"""`Dialog`: a modal with a frame, closed by escape."""

from __future__ import annotations

import re
from typing import ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tuiapp.keys import spell_keys

T = TypeVar("T")
CORNERS = 6  # cells of the border beside a hint
GAP = re.compile(" {2,}")


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
        """Name the keys in the lower border: as many as have room, and always the last one."""
        self._hint = hint
        shown = spell_keys(hint) if getattr(self.app, "ascii_only", False) else hint
        frame = self.query_one("#dialog")
        frame.border_subtitle = Content(fit_hint(shown, frame.outer_size.width - CORNERS))

    def compose_body(self) -> ComposeResult:
        """What stands inside the frame."""
        yield from ()

    def action_close(self) -> None:
        self.dismiss()


def fit_hint(hint: str, room: int) -> str:
    """A hint in so many cells: closer together if need be, then without those before the last.

    Args:
        hint: keys with two spaces or more between them.
    """
    if len(hint) <= room:
        return hint
    parts = GAP.split(hint)
    while len(parts) > 1 and len("  ".join(parts)) > room:
        del parts[-2]
    return "  ".join(parts)
