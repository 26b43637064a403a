"""`PlainFilter`: no colour at all, for NO_COLOR (https://no-color.org).

Textual's own filter for it draws in greys, which are colours to a terminal. What stands out by its
paper, such as the line under a cursor, is drawn in reverse instead; glyphs say the rest.
"""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

STANDS_OUT = 0.25  # difference in brightness from the usual paper, of 1


class PlainFilter(LineFilter):
    """Takes every colour away.

    Args:
        is_dark: the usual paper of the theme.
    """

    def __init__(self, *, is_dark: bool) -> None:
        super().__init__()
        self._paper = 0.0 if is_dark else 1.0

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        paper = self._paper
        return [
            Segment(text, without_colour(style, paper) if style else None, control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=4096)
def without_colour(style: Style, paper: float) -> Style:
    """The style with its attributes alone, in reverse where its paper stands out.

    Args:
        paper: brightness of the usual one, from 0 to 1.
    """
    is_strong = False
    if style.bgcolor and not style.bgcolor.is_default:
        own = Color.from_rich_color(style.bgcolor).brightness
        is_strong = abs(own - paper) > STANDS_OUT
    return Style(
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=bool(style.reverse) != is_strong,
        meta=style.meta or None,
    )
