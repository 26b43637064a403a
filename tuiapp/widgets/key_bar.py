"""`KeyBar`: the footer, which leaves out what has no room, but never help and the way out."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

ALWAYS = frozenset({"help", "app.quit", "leave", "close"})  # actions
PADDING = 3  # cells around a key and its word


class KeyBar(Footer):
    """The keys in their order, the more important first, as many as are whole."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._drawn_for = 0

    def compose(self) -> ComposeResult:
        keys = sorted(super().compose(), key=self._rank)
        self._drawn_for = self.app.size.width
        room = self._drawn_for - sum(_width(key) for key in keys if _is_vital(key))
        for key in keys:
            if not _is_vital(key):
                if _width(key) > room:
                    room = 0  # nor those behind it, or the order would mislead
                    continue
                room -= _width(key)
            yield key

    def _rank(self, key: Widget) -> int:
        """Its place among the screen's bindings, wherever a user's own key has moved it to."""
        actions = [each.action for each in self.screen.BINDINGS if isinstance(each, Binding)]
        assert isinstance(key, FooterKey), "no bindings here are grouped"
        return actions.index(key.action) if key.action in actions else len(actions)

    def on_resize(self, event: events.Resize) -> None:
        if self.app.size.width != self._drawn_for:
            self.call_after_refresh(self.recompose)


def _is_vital(key: Widget) -> bool:
    return isinstance(key, FooterKey) and key.action in ALWAYS


def _width(key: Widget) -> int:
    """Cells that a key takes with its word."""
    assert isinstance(key, FooterKey)
    return Content(f"{key.key_display}{key.description}").cell_length + PADDING
