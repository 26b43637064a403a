"""How the live screen's parts share a terminal of a given size; arithmetic only."""

from __future__ import annotations

from dataclasses import dataclass

NUM_STRIPS = 2  # lines of bars below the timeline
WIDE = 100
TALL = 32
BOTTOM = 7
PANE = 5
LINES_WIDE = 4  # title, story, legend, footer
LINES_NARROW = 5  # title, meters, story in two lines, footer


@dataclass(frozen=True, slots=True)
class Layout:
    """What fits.

    Attributes:
        num_rows: slots that the timeline shows at once.
        num_panes, num_columns: token panes, and how many of them stand side by side.
        has_bottom: whether there is room for the queue, the KV map and the legend.
    """

    num_rows: int
    num_panes: int
    num_columns: int
    is_wide: bool
    has_bottom: bool


def lay_out(width: int, height: int, *, num_slots: int, most_panes: int = 8) -> Layout:
    """Give the timeline all its slots if two rows, or else one row, of panes stay readable."""
    is_wide, has_bottom = width >= WIDE, height >= TALL and width >= WIDE
    num_columns = 4 if is_wide else 3
    lines = LINES_WIDE + BOTTOM if has_bottom else LINES_NARROW
    frame = NUM_STRIPS + 2
    two_rows = height - lines - frame - 2 * PANE
    one_row = height - lines - frame - PANE
    num_pane_rows = 2 if num_slots <= two_rows and num_slots > num_columns else 1
    num_rows = min(num_slots, two_rows if num_pane_rows == 2 else one_row)
    num_panes = min(num_pane_rows * num_columns, most_panes, max(num_slots, num_columns))
    return Layout(max(1, num_rows), num_panes, num_columns, is_wide, has_bottom)
