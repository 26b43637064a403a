"""The waterfall: what the time to first token was spent on, one row a stage."""

from __future__ import annotations

from textual.content import Content

from tuiapp.counting import counted
from tuiapp.explain import Life, Part, Stage
from tuiapp.widgets.life_bar import ASCII_GLYPHS, GLYPHS, STYLES, milliseconds

NAME_WIDTH = 10
TIME_WIDTH = 9
NOTE_WIDTH = 27
WAITS = (Stage.QUEUED, Stage.BATCH_WAIT, Stage.EVICTED)


def draw_waterfall(life: Life, width: int, *, ascii_only: bool = False) -> Content:
    """A heading, a row a stage, and a line on what came after the first token."""
    parts = life.waterfall
    total = sum(part.seconds for part in parts)
    glyphs = ASCII_GLYPHS if ascii_only else GLYPHS
    if life.ttft is None:
        heading = ("no token delivered so far", f" after {milliseconds(total)}")
    else:
        heading = ("TTFT", f" {milliseconds(life.ttft)}, the sum of")
    lines = [Content.assemble((heading[0], "bold"), (heading[1], "$muted"))]
    before = 0.0
    for part in parts:
        lines.append(_row(part, before / total, part.seconds / total, width, glyphs))
        before += part.seconds
    if later := _after(life):
        lines.append(Content.assemble(("then ", "bold"), (later, "$muted")))
    return Content("\n").join(lines)


def _row(part: Part, begin: float, share: float, width: int, glyphs: dict[Stage, str]) -> Content:
    room = max(4, width - 3 - NAME_WIDTH - TIME_WIDTH - 2 - NOTE_WIDTH)
    at = min(room - 1, round(begin * room))
    length = max(1, min(room - at, round((begin + share) * room) - at))
    rest = room - at - length
    style = STYLES[part.stage]
    return Content.assemble(
        (glyphs[part.stage] * 2, style),
        (f" {part.stage.value:<{NAME_WIDTH}}", "$muted"),
        (f"{milliseconds(part.seconds):>{TIME_WIDTH}}", "bold"),
        " " * (1 + at),
        (glyphs[part.stage] * length, style),
        " " * (1 + rest),
        (_note(part), "$muted"),
    )


def _note(part: Part) -> str:
    passes = counted(part.num_passes, "pass")
    if part.stage in WAITS:
        return f"{passes} went by"
    if part.num_tokens and part.stage is not Stage.DECODE:
        return f"{passes}, {counted(part.num_tokens, 'token')}"
    return passes


def _after(life: Life) -> str:
    """What the rest of its life was spent on."""
    first = {part.stage: part.seconds for part in life.waterfall}
    rest = ((part.stage, part.seconds - first.get(part.stage, 0.0)) for part in life.parts)
    later = [f"{stage.value} {milliseconds(seconds)}" for stage, seconds in rest if seconds > 1e-9]
    return ", ".join(later) if life.ttft is not None else ""
