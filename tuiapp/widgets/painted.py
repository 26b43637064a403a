"""`Painted`: a widget drawn cell by cell in the colours of its component classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

DIM = Style(dim=True)
T = TypeVar("T")


class Painted(Widget):
    """Reads the styles of its component classes once a theme, by what stands behind their `--`."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._styles: dict[str, Style] = {}

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles = {}

    def render_lines(self, crop: Region) -> list[Strip]:
        self._read_styles()
        return super().render_lines(crop)

    def render_bare_lines(self, crop: Region) -> list[Strip]:
        """The lines as they are painted: for a widget without a border and padding of its own.

        Textual's way keeps what has not changed and puts the border around the rest; where every
        line moves in every frame, that costs more than it saves.
        """
        self._read_styles()
        strips = [self.render_line(y) for y in crop.line_range]
        for line_filter in self.get_line_filters():
            background = self.background_colors[1]
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        if crop.column_span == (0, self.size.width):
            return strips
        return [strip.crop(*crop.column_span) for strip in strips]

    def _read_styles(self) -> None:
        """Where there is none of their own, they have the paper that lies below the widget."""
        if self._styles:
            return
        paper = Style(bgcolor=self.background_colors[1].rich_color)
        self._styles = {
            name.partition("--")[2]: paper + self.get_component_rich_style(name)
            for name in self.COMPONENT_CLASSES
        }


def draw_around(
    draw: Callable[[Sequence[T]], Iterable[Segment]],
    cells: Sequence[T],
    at: int | None,
    cursor: Segment,
) -> Iterable[Segment]:
    """Draw cells with a cursor in place of one of them, and what comes behind it dim.

    Args:
        at: the place of the cursor; None draws the cells alone.
    """
    if at is None:
        yield from draw(cells)
        return
    yield from draw(cells[:at])
    yield cursor
    for text, style, control in draw(cells[at + 1 :]):
        yield Segment(text, (style or Style()) + DIM, control)
