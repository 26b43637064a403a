"""`JumpScreen`: a letter on every panel, to go there by one key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

HINT = "press a letter to go to its panel, esc to stay"


class JumpScreen(ModalScreen[Widget | None]):
    """Dismissed with the panel that was chosen.

    Args:
        panels: by the key that leads to each, as they lie on the screen below.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stay", "Stay", show=False)]
    DEFAULT_CSS = """
    JumpScreen { background: $background 40%; }
    JumpScreen .letter {
        dock: top; width: 3; height: 1;
        background: $accent; color: $background; text-style: bold;
    }
    JumpScreen #hint { dock: bottom; height: 1; padding: 0 1; background: $panel; }
    """

    def __init__(self, panels: Mapping[str, Widget]) -> None:
        super().__init__()
        self._panels = panels
        self._drawn_for: Size | None = None

    def compose(self) -> ComposeResult:
        for key, panel in self._panels.items():
            letter = Static(Content(f" {key} "), classes="letter")
            letter.styles.offset = panel.region.offset
            yield letter
        yield Static(HINT, id="hint", markup=False)

    def on_key(self, event: events.Key) -> None:
        """Go where the key leads; one that leads nowhere is no harm."""
        if panel := self._panels.get(event.key):
            event.stop()
            self.dismiss(panel)

    def on_click(self, event: events.Click) -> None:
        """Go to the panel that lies there."""
        hit = (each for each in self._panels.values() if each.region.contains(*event.screen_offset))
        self.dismiss(next(hit, None))

    def on_resize(self) -> None:
        """The letters would lie in the wrong places."""
        if self._drawn_for not in (None, self.size):
            self.dismiss(None)
        self._drawn_for = self.size

    def action_stay(self) -> None:
        self.dismiss(None)
