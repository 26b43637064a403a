"""The keys that a dialog names in its border, which can be clicked as well as pressed."""

from __future__ import annotations

import re
from collections.abc import Collection

from textual.content import Content
from textual.style import Style

from tuiapp.keys import KEY_WORDS, SIGNS

GAP = re.compile("( {2,})")
KEYS = {sign: key for key, sign in SIGNS.items()}
SPELT = {word: KEYS[sign] for sign, word in KEY_WORDS.items() if sign in KEYS}


def fit_hint(hint: str, room: int) -> str:
    """A hint in so many cells: closer together if need be, then without those before the last.

    Args:
        hint: keys with two spaces or more between them.
    """
    if len(hint) <= room:
        return hint
    parts = GAP.split(hint)[::2]
    while len(parts) > 1 and len("  ".join(parts)) > room:
        del parts[-2]
    return "  ".join(parts)


def link_hint(hint: str, bound: Collection[str]) -> Content:
    """A hint whose keys are pressed where they are clicked, if they are bound to something.

    The screen needs an action `press`.
    """
    return Content.assemble(*(_link(part, bound) for part in GAP.split(hint)))


def _link(part: str, bound: Collection[str]) -> Content:
    words = part.split(" ")
    key = _key(words[0])
    names_another = any(word in KEYS or len(word) == 1 for word in words[1:2])
    if key not in bound or names_another:
        return Content(part)
    return Content(part).stylize(Style.from_meta({"@click": f"screen.press({key!r})"}))


def _key(word: str) -> str:
    """What Textual calls a key that stands in a text."""
    return KEYS.get(word) or SPELT.get(word, word)
