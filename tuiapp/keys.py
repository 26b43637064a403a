"""`Keys`: the key of every action, as a sentence on the screen names it.

Whatever tells a user to press something asks here, since users can give an action another key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SIGNS = {
    "question_mark": "?",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "comma": ",",
    "slash": "/",
    "enter": "⏎",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "tab": "⇥",
    "escape": "esc",
}

KEY_WORDS = {  # the longer ones first
    "↑ and ↓": "Up and Down",
    "↑↓": "Up/Down",
    "← →": "Left/Right",
    "←→": "Left/Right",
    "⏎": "Enter",
    "⇥": "Tab",
    "↑": "Up",
    "↓": "Down",
    "←": "Left",
    "→": "Right",
}


def show_key(key: str, *, is_ascii: bool = False) -> str:
    """A key that Textual calls `shift+left`, as people read it: `shift+←`."""
    *held, last = key.split("+")
    shown = "+".join([*held, SIGNS.get(last, last)])
    return spell_keys(shown) if is_ascii else shown


def spell_keys(text: str) -> str:
    """The names of keys as words, in more cells than before; for text that speaks of keys."""
    for sign, word in KEY_WORDS.items():
        text = text.replace(sign, word)
    return text


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys by action; `keys["burst"]` is the first one of that action, to be shown.

    Attributes:
        bound: Textual's names of them, with commas between, by the action's name.
        is_ascii: spell keys that have a sign, as Enter.
    """

    bound: Mapping[str, str]
    is_ascii: bool = False

    def __getitem__(self, action: str) -> str:
        return show_key(self.bound[action].partition(",")[0], is_ascii=self.is_ascii)
