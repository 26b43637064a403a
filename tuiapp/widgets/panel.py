"""`Panel`: lines of text that are repainted one by one as they change, and know no markup."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

from tuiapp.widgets.border import set_subtitle


class Panel(Widget):
    """Content in, content out; its layout never depends on it."""

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
        self.auto_links = False
        self._lines: list[Content] = []
        self._strips: dict[int, Strip] = {}  # of lines that did not change since
        self._subtitle = ""
        self._ink: Style | None = None
        self.border_title = Content(title) if title else None

    def say(self, lines: Sequence[Content], subtitle: str = "") -> None:
        """Show these, a row each, and in the lower border that."""
        old, self._lines = self._lines, [*lines]
        for y in range(max(len(old), len(lines))):
            if not (y < len(old) and y < len(lines) and lines[y].is_same(old[y])):
                self._strips.pop(y, None)
                self.refresh(Region(0, y, self.size.width, 1))
        if subtitle != self._subtitle:
            self._subtitle = subtitle
            set_subtitle(self, subtitle)

    def render(self) -> Content:
        """All of it at once, for what the mouse selects."""
        return Content("\n").join(self._lines)

    def render_line(self, y: int) -> Strip:
        if self.text_selection is not None:
            self._strips.clear()
            return super().render_line(y)
        strip = self._strips.get(y)
        if strip is None:
            strip = self._strips[y] = self._render_row(y)
        return strip

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._ink = None
        self._strips.clear()

    def on_resize(self) -> None:
        self._strips.clear()

    def _render_row(self, y: int) -> Strip:
        if self._ink is None:
            self._ink = self.visual_style  # found anew for each line it is dearer than the line
        width, style, strips = self.size.width, self._ink, []
        if y < len(self._lines):
            strips = Visual.to_strips(self, self._lines[y], width, 1, style)
        return strips[0].apply_offsets(0, y) if strips else Strip.blank(width, style.rich_style)
