"""The timeline of a whole run: slots by time, as far as fits."""

from __future__ import annotations

from textual.content import Content

from tuiapp.export.sketch import FREE, WORKS, Raster
from tuiapp.view.columns import PHASES
from tuiapp.view.phases import ASCII_GLYPHS, GLYPHS, Phase

LABEL = 4  # cells


def draw_whole_run(
    raster: Raster, seconds: float, width: int, most_rows: int, *, ascii_only: bool
) -> Content:
    """Draw what each slot did most in each moment.

    Args:
        seconds: that the width stands for, from the first pass on.
        most_rows: slots that are shown at most; a line says how many more there are.
    """
    glyphs = ASCII_GLYPHS if ascii_only else GLYPHS
    num_cells = max(1, width - LABEL)
    num_slots = len(raster.slots)
    lines = [
        _row(raster, slot, seconds, num_cells, glyphs) for slot in range(min(num_slots, most_rows))
    ]
    if num_slots > most_rows:
        lines.append(Content.styled(f"    and {num_slots - most_rows} more slots", "$muted"))
    end = f"{seconds:.1f} s"
    lines.append(Content.styled(f"    0{end:>{num_cells - 1}}", "$muted"))
    return Content("\n").join(lines)


def _row(
    raster: Raster, slot: int, seconds: float, num_cells: int, glyphs: dict[Phase, str]
) -> Content:
    parts: list[tuple[str, str]] = [(f"{slot:>3} ", "$muted")]
    per_cell = seconds / num_cells
    for cell in range(num_cells):
        phase = _mostly(raster, slot, cell * per_cell, (cell + 1) * per_cell)
        style = f"$phase-{phase.value}-ink on $phase-{phase.value}"
        if parts[-1][1] == style:
            parts[-1] = (parts[-1][0] + glyphs[phase], style)
        else:
            parts.append((glyphs[phase], style))
    return Content.assemble(*parts)


def _mostly(raster: Raster, slot: int, began: float, ended: float) -> Phase:
    """What the slot did most from one moment to another; free if it was that for most of it."""
    first = int(began / raster.width)
    last = max(first + 1, round(ended / raster.width))
    cells = raster.slots[slot][first * FREE : last * FREE]
    spent = [sum(cells[kind::FREE]) for kind in range(FREE)]
    if sum(spent) < (last - first) * raster.width / 2:
        return Phase.FREE
    return PHASES[WORKS[max(range(FREE), key=spent.__getitem__)]]
