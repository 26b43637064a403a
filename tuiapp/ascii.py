"""Drawing with ASCII alone, for terminals and fonts that have nothing else."""

from __future__ import annotations

from functools import lru_cache

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

TABLE = (
    dict.fromkeys("─╌┄━", "-")
    | dict.fromkeys("│┃╎╷▏▎▍▌▊", "|")
    | dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼┏┓┗┛", "+")
    | {"▁": "_", "▂": "_", "▃": "-", "▄": "-", "▅": "=", "▆": "=", "▇": "#", "█": "#"}
    | {"▋": "#", "▉": "#", "▪": "#", "·": ".", "●": "o", "▒": "#", "░": ":", "✗": "x"}
    | {
        "×": "x",
        "▸": ">",
        "▶": ">",
        "◀": "<",
        "‖": "=",
        "▚": "*",
        "→": ">",
        "←": "<",
        "◂": "<",
        "⏎": "^",
        "⇥": ">",
        "…": "~",
        "—": "-",
    }
    | {"–": "-", "◦": "*", "↑": "^", "↓": "v"}
)
TRANSLATION = str.maketrans(TABLE)


class AsciiFilter(LineFilter):
    """Replaces every other sign by one of ASCII that looks like it, or by a question mark."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(to_ascii(text), style, control) for text, style, control in segments]


@lru_cache(maxsize=4096)
def to_ascii(text: str) -> str:
    """The text in as many cells as before."""
    if text.isascii():
        return text
    known = text.translate(TRANSLATION)
    return "".join(c if c.isascii() else "?" * get_character_cell_size(c) for c in known)
