"""`Panel`: rows of styled text that are repainted one by one as they change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tuiapp.widgets.border import set_subtitle

Piece = tuple[str, str]  # text, never markup, and a style as in Textual's markup; empty for none
Row = Sequence[Piece]


class Panel(Widget):
    """Pieces of text become strips at once: text that changes need not be wrapped and measured."""

    ALLOW_SELECT: ClassVar[bool] = False  # it would be gone before it is copied
    can_focus = True
    DEFAULT_CSS = """
    Panel {
        height: auto;
        border: round $border-blurred;
        border-title-color: $muted;
        border-subtitle-color: $muted;
        padding: 0 1;
    }
    Panel:focus { border: heavy $primary; }
    """

    def __init__(self, title: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._rows: list[tuple[Piece, ...]] = []
        self._inks: dict[str, Style] = {}
        self._subtitle = ""
        self.border_title = Content(title) if title else None

    def say(self, rows: Sequence[Row], subtitle: str = "") -> None:
        """Show these, a line each, and in the lower border that; its layout does not change."""
        old, self._rows = self._rows, [tuple(row) for row in rows]
        for y in range(max(len(old), len(self._rows))):
            if old[y : y + 1] != self._rows[y : y + 1]:
                self.refresh(Region(0, y, self.size.width, 1))
        if subtitle != self._subtitle:
            self._subtitle = subtitle
            set_subtitle(self, subtitle)

    def render(self) -> Content:
        """The text of all rows, for whoever does not look at the lines."""
        return Content("\n".join("".join(text for text, _ in row) for row in self._rows))

    def render_line(self, y: int) -> Strip:
        width, paper = self.size.width, self._ink("")
        if y >= len(self._rows):
            return Strip.blank(width, paper)
        strip = Strip(Segment(text, self._ink(style)) for text, style in self._rows[y] if text)
        return strip.crop(0, width)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._inks.clear()

    def _ink(self, style: str) -> Style:
        """Looked up once a theme: that is dearer than the line itself."""
        ink = self._inks.get(style)
        if ink is None:
            own = self.app.stylesheet.parse_style(style)
            ink = self._inks[style] = (self.visual_style + own).rich_style
        return ink
