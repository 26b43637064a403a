"""`Panel`: a `Static` that repaints only when what it says has changed, and knows no markup."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from tuiapp.widgets.border import set_subtitle


class Panel(Static):
    """Content in, content out; its layout never depends on it."""

    can_focus = True
    DEFAULT_CSS = """
    Panel {
        border: round $border-blurred;
        border-title-color: $muted;
        border-subtitle-color: $muted;
        padding: 0 1;
    }
    Panel:focus { border: heavy $primary; }
    """

    def __init__(self, title: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._said: Content | None = None
        self._subtitle = ""
        self.border_title = Content(title) if title else None

    def say(self, content: Content, subtitle: str = "") -> None:
        """Show this, and in the lower border that."""
        if self._said is None or not content.is_same(self._said):
            self._said = content
            self.update(content, layout=False)
        if subtitle != self._subtitle:
            self._subtitle = subtitle
            set_subtitle(self, subtitle)
