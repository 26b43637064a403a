"""What stands in a border changes without the rest of its widget."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget


def set_subtitle(widget: Widget, text: str) -> None:
    """Set a line of text in the lower border, and repaint that border alone.

    Textual's own property repaints the widget, which is dear where the text counts something.
    """
    widget._border_subtitle = Content(text)
    width, height = widget.outer_size
    if height:  # before the first layout nothing was painted yet
        left, top = widget.content_offset
        widget.refresh(Region(-left, height - 1 - top, width, 1))
