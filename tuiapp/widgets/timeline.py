"""The slots x passes timeline, with the tokens of each pass below it, drawn by the Line API.

One row a slot, one cell a forward pass. Colours come from component classes, so that themes and
NO_COLOR work; a glyph for each phase carries the same information without colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby, zip_longest
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip

from tuiapp.text import one_line
from tuiapp.view.columns import Cell, Column
from tuiapp.view.layout import NUM_STRIPS
from tuiapp.view.phases import ASCII_GLYPHS, GLYPHS, LABELLED, WORDS, Phase
from tuiapp.view.snapshot import Snapshot
from tuiapp.widgets.painted import Painted
from tuiapp.widgets.phase_styles import phase_classes, phase_css
from tuiapp.widgets.picked import Picked

GUTTER = 4
BARS = " ▁▂▃▄▅▆▇█"
ASCII_BARS = " .:-=+*#@"


class Timeline(Painted):
    """Rows are slots; the right-most column is the newest pass."""

    COMPONENT_CLASSES: ClassVar[set[str]] = phase_classes("timeline") | {
        "timeline--gutter",
        "timeline--prefill-bar",
        "timeline--decode-bar",
        "timeline--mine",
    }
    can_focus = True
    DEFAULT_CSS = (
        "Timeline { height: auto;"
        + phase_css("timeline")
        + """
        .timeline--gutter { color: $muted; }
        .timeline--prefill-bar { color: $phase-prefill; }
        .timeline--decode-bar { color: $phase-decode-ink; }
        .timeline--mine { background: $accent; color: $background; text-style: bold; }
    }"""
    )

    HELP = (
        "A row is a slot, a column one forward pass, the newest on the right. The bars below are "
        "the prompt tokens (pre) and the output tokens (dec) of the pass. A click on a cell opens "
        "the life of its request; the wheel reaches slots that have no room."
    )

    def __init__(
        self,
        is_mine: Callable[[str], bool] = lambda request_id: False,
        *,
        ascii_only: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._is_mine = is_mine
        self._glyphs = ASCII_GLYPHS if ascii_only else GLYPHS
        self._bars = ASCII_BARS if ascii_only else BARS
        self._mark = ">" if ascii_only else "▸"
        self._columns: tuple[Column, ...] = ()
        self._shown: tuple[Column, ...] = ()  # those that there is room for
        self._rows: list[tuple[Cell | None, ...]] = []  # their cells, by slot
        self._num_slots = 8
        self._max_rows = 8
        self._first_slot = 0
        self._selected_slot: int | None = None

    @property
    def num_rows(self) -> int:
        """Slots shown at once."""
        return min(self._num_slots, self._max_rows)

    def show(self, snapshot: Snapshot, max_rows: int, selected: str | None = None) -> None:
        """Draw a frame, with so many slots at most; the wheel reaches the others.

        Args:
            selected: the request whose slot is marked.
        """
        old_rows = self.num_rows
        self._num_slots, self._max_rows = len(snapshot.slots) or 1, max_rows
        self._first_slot = max(0, min(self._first_slot, self._num_slots - self.num_rows))
        if self.num_rows != old_rows:
            self.refresh(layout=True)
        marked = next((at for at, v in enumerate(snapshot.slots) if v and v.id == selected), None)
        if marked is not None and marked != self._selected_slot:
            last = self._first_slot + self.num_rows - 1
            self._first_slot += min(0, marked - self._first_slot) + max(0, marked - last)
        if marked != self._selected_slot or self._columns != snapshot.columns:
            self._selected_slot, self._columns = marked, snapshot.columns
            self.refresh()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return self.num_rows + NUM_STRIPS

    def render_lines(self, crop: Region) -> list[Strip]:
        self._shown = self._window()
        self._rows = [*zip_longest(*(column.cells for column in self._shown))]
        return self.render_bare_lines(crop)

    def render_line(self, y: int) -> Strip:
        width, shown = self.size.width, self._shown
        if y < self.num_rows:
            slot = self._first_slot + y
            mark = self._mark if slot == self._selected_slot else " "
            gutter = f"{slot:>2}{mark}".ljust(GUTTER)[:GUTTER]
            segments = [*self._row(slot)]
        elif y == self.num_rows:
            gutter = "pre "
            segments = self._strip([column.num_prefill for column in shown], "prefill")
        else:
            gutter = "dec "
            segments = self._strip([column.num_decode for column in shown], "decode")
        pad = Segment(" " * (width - GUTTER - len(shown)), self._styles["free"])
        return Strip([Segment(gutter, self._styles["gutter"]), *segments, pad], width)

    def _window(self) -> tuple[Column, ...]:
        room = max(1, self.size.width - GUTTER)
        return self._columns[-room:]

    def _row(self, slot: int) -> Iterable[Segment]:
        """Runs of like cells, each with the name of its request where there is room."""
        cells = self._rows[slot] if slot < len(self._rows) else (None,) * len(self._shown)
        for cell, run in groupby(cells):
            yield from self._segments(cell, len([*run]))

    def _segments(self, cell: Cell | None, length: int) -> Iterable[Segment]:
        if cell is None:
            yield Segment(self._glyphs[Phase.FREE] * length, self._styles["free"])
            return
        style, glyph = self._styles[cell.phase.value], self._glyphs[cell.phase]
        name = cell.request_id
        if cell.phase in LABELLED and length >= len(name) + 2:
            yield Segment(name, self._styles["mine"] if self._is_mine(name) else style)
            length -= len(name)
        yield Segment(glyph * length, style)

    def _strip(self, counts: list[int], kind: str) -> list[Segment]:
        """One bar a pass, as high as its tokens beside the most on the screen."""
        most, top = max(counts, default=0) or 1, len(self._bars) - 1
        bars = "".join([self._bars[-(-count * top // most)] for count in counts])
        return [Segment(bars, self._styles[f"{kind}-bar"])]

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll_slots(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll_slots(-1)

    def on_click(self, event: events.Click) -> None:
        column, cell = self._at(event)
        if column and cell:
            self.post_message(Picked(cell.request_id))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Say what lies under the mouse."""
        column, cell = self._at(event)
        if column is None:
            self.tooltip = None
        elif cell is None:
            self.tooltip = Content(f"pass {column.index + 1}: free")
        else:
            what = WORDS.get(cell.phase, cell.phase.value)
            self.tooltip = Content(f"pass {column.index + 1}: {one_line(cell.request_id)}, {what}")

    def _at(self, event: events.MouseEvent) -> tuple[Column | None, Cell | None]:
        """The pass that an event points at, and what its slot did there."""
        shown = self._window()
        x, y = event.x - GUTTER, event.y
        if not (0 <= y < self.num_rows and 0 <= x < len(shown)):
            return None, None
        return shown[x], shown[x].cell(self._first_slot + y)

    def _scroll_slots(self, rows: int) -> None:
        last = self._num_slots - self.num_rows
        self._first_slot = max(0, min(last, self._first_slot + rows))
        self.refresh()
