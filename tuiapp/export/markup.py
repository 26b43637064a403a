"""HTML and SVG as text; everything that comes from outside is escaped here."""

from __future__ import annotations

from html import escape

from tuiapp.text import one_line


def tag(name: str, *inside: str, **attributes: str | float) -> str:
    """An element around markup that is whole already.

    Args:
        inside: markup.
        attributes: values are escaped; `_` in a name stands for `-`, and one at its end is dropped.
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value), quote=True)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{pairs}>{''.join(inside)}</{name}>"


def text(words: str) -> str:
    """Words as markup: on one line, with nothing in them that a browser would obey."""
    return escape(one_line(words), quote=True)


def _plain(value: str | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
