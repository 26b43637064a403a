"""The slots of one lane on the time axis that all lanes share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tuiapp.lanes.layout import Bands, band_slots
from tuiapp.lanes.raster import Cells, cell_of, draw_slots, moment_in
from tuiapp.lanes.track import Moment, Track
from tuiapp.view.columns import Cell
from tuiapp.view.phases import ASCII_GLYPHS, GLYPHS, LABELLED, Phase
from tuiapp.widgets.painted import Painted, draw_around
from tuiapp.widgets.phase_styles import phase_classes, phase_css

GUTTER, WIDE_GUTTER = 6, 14


@dataclass(frozen=True, slots=True)
class RowsFrame:
    """What one frame of a lane shows.

    Attributes:
        track: the run, and `ended`, which says whether it has grown.
        moment: the state that the gutter names.
        cursor: seconds that are looked at; what comes later is dim. None for no such moment.
        selected: the slot that is marked.
        gutter: cells before the axis begins.
    """

    track: Track
    ended: float
    moment: Moment
    num_slots: int
    num_rows: int
    span: float
    cursor: float | None = None
    selected: int | None = None
    gutter: int = WIDE_GUTTER
    can_halve: bool = True


class LaneRows(Painted):
    """A cell is a length of time; two slots share a row where there is no room for each."""

    COMPONENT_CLASSES: ClassVar[set[str]] = phase_classes("lane") | {
        "lane--gutter",
        "lane--cursor",
        "lane--mark",
    }
    DEFAULT_CSS = (
        "LaneRows { height: auto; width: 1fr;"
        + phase_css("lane")
        + """
        .lane--gutter { color: $muted; }
        .lane--cursor { background: $accent; color: $background; text-style: bold; }
        .lane--mark { color: $accent; text-style: bold; }
    }"""
    )

    class Pressed(Message):
        """A place was clicked: in which lane, when, and in which slot; None beside the cells."""

        def __init__(self, lane: int, time: float | None, slot: int | None) -> None:
            self.lane, self.moment, self.slot = lane, time, slot
            super().__init__()

    def __init__(self, index: int, *, ascii_only: bool = False) -> None:
        super().__init__()
        self._index = index
        self._glyphs = ASCII_GLYPHS if ascii_only else GLYPHS
        self._cursor, self._mark = ("|", ">") if ascii_only else ("│", "▸")
        self._frame: RowsFrame | None = None
        self._bands: tuple[Bands, ...] = ()
        self._drawn: dict[range, Cells] = {}
        self._drawn_for: tuple[object, ...] = ()

    def show(self, frame: RowsFrame) -> None:
        """Draw a frame."""
        if frame == self._frame:
            return
        self._frame = frame
        bands = band_slots(frame.num_slots, frame.num_rows, can_halve=frame.can_halve)
        is_taller = len(bands) != len(self._bands)
        self._bands = bands
        self.refresh(layout=is_taller)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return max(1, len(self._bands))

    def render_lines(self, crop: Region) -> list[Strip]:
        self._draw_cells()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        frame, width = self._frame, self.size.width
        if frame is None or y >= len(self._bands):
            return Strip.blank(width)
        bands = self._bands[y]
        gutter = self._gutter(frame, bands)
        halves = [self._drawn[band] for band in bands]
        at = None if frame.cursor is None else self._column(frame, frame.cursor)
        return Strip([*gutter, *self._cells(halves, at)], width)

    def on_click(self, event: events.Click) -> None:
        frame = self._frame
        if frame is None or not 0 <= event.y < len(self._bands):
            return
        time = moment_in(event.x - frame.gutter, frame.span, self._num_cells(frame))
        self.post_message(self.Pressed(self._index, time, self._bands[event.y][0].start))

    def _draw_cells(self) -> None:
        """Draw all cells anew where the run, the axis or the widget has changed."""
        frame = self._frame
        if frame is None:
            return
        width = self._num_cells(frame)
        drawn_for = (frame.track, frame.ended, frame.span, width, self._bands)
        if drawn_for != self._drawn_for:
            self._drawn_for = drawn_for
            bands = [band for row in self._bands for band in row]
            self._drawn = {b: draw_slots(frame.track, b, frame.span, width) for b in bands}

    def _num_cells(self, frame: RowsFrame) -> int:
        return max(1, self.size.width - frame.gutter)

    def _column(self, frame: RowsFrame, time: float) -> int:
        width = self._num_cells(frame)
        return cell_of(time, frame.span / width, width)

    def _gutter(self, frame: RowsFrame, bands: Bands) -> list[Segment]:
        """The slot, and who holds it at the moment; of several, the first and the last."""
        first, last = bands[0].start, bands[-1].stop - 1
        is_marked = frame.selected is not None and first <= frame.selected <= last
        style = self._styles["mark" if is_marked else "gutter"]
        room = frame.gutter
        if first != last:
            text = f"{first:>2}-{last}{self._mark if is_marked else ''}"
        else:
            slots = frame.moment.slots
            holder = slots[first] if first < len(slots) else None
            name = f" {holder.request_id}" if holder and room > GUTTER else ""
            text = f"{first:>2}{self._mark if is_marked else ''}{name}"
        return [Segment(f"{text[: room - 1]:<{room}}", style)]

    def _cells(self, halves: Sequence[Cells], at: int | None) -> Iterable[Segment]:
        """All cells of a row, with a line at the moment that is looked at."""
        draw = self._whole if len(halves) == 1 else self._halves
        cursor = Segment(self._cursor, self._styles["cursor"])
        return draw_around(draw, [*zip(*halves, strict=True)], at, cursor)

    def _whole(self, columns: Sequence[tuple[Cell | None, ...]]) -> Iterable[Segment]:
        """Runs of like cells, each with the name of its request where there is room."""
        for (cell,), run in groupby(columns):
            length = sum(1 for _ in run)
            if cell is None:
                yield Segment(self._glyphs[Phase.FREE] * length, self._styles["free"])
                continue
            name = cell.request_id
            text = self._glyphs[cell.phase] * length
            if cell.phase in LABELLED and length >= len(name) + 2:
                text = name + text[len(name) :]
            yield Segment(text, self._styles[cell.phase.value])

    def _halves(self, columns: Sequence[tuple[Cell | None, ...]]) -> Iterable[Segment]:
        """Two slots a row, each in half a cell; the colours alone tell what they do."""
        phases = [tuple(cell.phase if cell else Phase.FREE for cell in each) for each in columns]
        for (upper, lower), run in groupby(phases):
            above, below = self._styles[upper.value], self._styles[lower.value]
            style = Style(color=above.bgcolor, bgcolor=below.bgcolor)
            yield Segment("▀" * sum(1 for _ in run), style)
