"""`to_cast`: a film as asciicast v2, which asciinema and its like play.

https://docs.asciinema.org/manual/asciicast/v2/ describes the format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.color import ColorSystem
from rich.style import Style

from tuiapp.demo.film import Film, Frame, Line

CLEAR, RESET = "\x1b[2J\x1b[?25l", "\x1b[0m"
CAPTION = Style(bold=True)


def to_cast(film: Film) -> str:
    """The whole file; only the lines that changed are drawn again."""
    header = {
        "version": 2,
        "width": film.width,
        "height": film.height + film.num_below,
        "title": film.title,
        "env": {"TERM": "xterm-256color"},
    }
    lines = [json.dumps(header), *(json.dumps(each, ensure_ascii=False) for each in _events(film))]
    return "\n".join(lines) + "\n"


def _events(film: Film) -> Iterator[tuple[float, str, str]]:
    before: Frame | None = None
    for frame in film.frames:
        yield frame.time, "o", ("" if before else CLEAR) + _draw(frame, before, film)
        before = frame
    yield film.seconds, "o", RESET


def _draw(frame: Frame, before: Frame | None, film: Film) -> str:
    """What changes one picture into the next."""
    parts = [
        f"\x1b[{number};1H{_render(line)}"
        for number, line in enumerate(frame.lines, 1)
        if before is None or before.lines[number - 1] != line
    ]
    if before is None or before.caption != frame.caption:
        parts.append(_draw_caption(frame, film))
    return "".join(parts)


def _draw_caption(frame: Frame, film: Film) -> str:
    """The caption in place of the one before."""
    first = film.height + 2
    lines = film.caption_lines(frame)
    parts = []
    for number in range(film.num_below - 1):
        text = lines[number] if number < len(lines) else ""
        shown = CAPTION.render(text, color_system=ColorSystem.TRUECOLOR)
        parts.append(f"\x1b[{first + number};1H\x1b[2K {shown}")
    return "".join(parts)


def _render(line: Line) -> str:
    texts = (
        (segment.style or Style.null()).render(segment.text, color_system=ColorSystem.TRUECOLOR)
        for segment in line
    )
    return "".join(texts) + RESET
