"""A text beside what names it, in as many lines as it takes, none of which begins further left."""

from __future__ import annotations

from textwrap import wrap

from textual.content import Content

FEWEST_CELLS = 12  # for the text, however wide its name is


def hang(lead: Content, text: str, width: int, style: str = "") -> Content:
    """A text of one line that is broken to stand beside its name.

    Args:
        lead: the name, with the space behind it.
        width: cells of both.
    """
    begin = lead.cell_length
    lines = wrap(text, max(FEWEST_CELLS, width - begin))
    return Content.assemble(lead, (f"\n{' ' * begin}".join(lines), style))
