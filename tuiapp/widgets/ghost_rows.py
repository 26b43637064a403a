"""Two lanes over each other: a row a request, and behind it when the other was done with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tuiapp.lanes.ghost import Pair, Tone, pair_up
from tuiapp.lanes.raster import cell_of, moment_in
from tuiapp.lanes.track import Track
from tuiapp.view.phases import ASCII_GLYPHS, GLYPHS, Phase
from tuiapp.widgets.painted import Painted, draw_around
from tuiapp.widgets.phase_styles import phase_classes, phase_css

RESULT = 11  # cells behind the axis
SIGNS = {Tone.NONE: " ", Tone.QUEUED: "┄", Tone.GHOST: "╌", Tone.GHOST_END: "◇"}
ASCII_SIGNS = {Tone.NONE: " ", Tone.QUEUED: ".", Tone.GHOST: "~", Tone.GHOST_END: "@"}


@dataclass(frozen=True, slots=True)
class GhostFrame:
    """What one frame shows.

    Attributes:
        sizes: `ended` of both, which says whether they have grown.
        selected: the request that is marked, by its place.
        gutter: cells before the axis begins.
    """

    base: Track
    ghost: Track
    sizes: tuple[float, float]
    span: float
    cursor: float | None
    selected: int
    gutter: int


class GhostRows(Painted):
    """As many requests as there are lines, around the one that is marked."""

    COMPONENT_CLASSES: ClassVar[set[str]] = (
        phase_classes("ghost")
        | {f"ghost--{name}" for name in ("none", "queued", "ghost", "ghost-end")}
        | {f"ghost--{name}" for name in ("gutter", "cursor", "mark", "sooner", "later")}
    )
    DEFAULT_CSS = (
        "GhostRows { height: 1fr; width: 1fr;"
        + phase_css("ghost")
        + """
        .ghost--none { background: $phase-free; }
        .ghost--queued { background: $phase-free; color: $muted; }
        .ghost--ghost { background: $phase-free; color: $faint; }
        .ghost--ghost-end { background: $phase-free; color: $accent; text-style: bold; }
        .ghost--gutter { color: $muted; }
        .ghost--cursor { background: $accent; color: $background; text-style: bold; }
        .ghost--mark { color: $accent; text-style: bold; }
        .ghost--sooner { color: $success; }
        .ghost--later { color: $warning; }
    }"""
    )

    class Pressed(Message):
        """A place was clicked: which request, and when; None beside the cells."""

        def __init__(self, place: int, time: float | None) -> None:
            self.place, self.moment = place, time
            super().__init__()

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__()
        glyphs = ASCII_GLYPHS if ascii_only else GLYPHS
        own = ASCII_SIGNS if ascii_only else SIGNS
        self._signs = own | {tone: glyphs[Phase(tone.value)] for tone in Tone if tone not in SIGNS}
        self._cursor, self._mark = ("|", ">") if ascii_only else ("│", "▸")
        self._frame: GhostFrame | None = None
        self._pairs: list[Pair] = []
        self._drawn_for: tuple[object, ...] = ()

    def show(self, frame: GhostFrame) -> None:
        """Draw a frame."""
        if frame != self._frame:
            self._frame = frame
            self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        self._pair_up()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        frame, width, place = self._frame, self.size.width, self._first + y
        if frame is None or place >= len(self._pairs):
            return Strip.blank(width)
        pair = self._pairs[place]
        is_marked = place == frame.selected
        name = f"{self._mark if is_marked else ' '}{pair.request_id}"
        style = self._styles["mark" if is_marked else "gutter"]
        gutter = Segment(f"{name[: frame.gutter - 1]:<{frame.gutter}}", style)
        return Strip([gutter, *self._bar(frame, pair.tones), self._result(pair.later)], width)

    def on_click(self, event: events.Click) -> None:
        frame, place = self._frame, self._first + event.y
        if frame and place < len(self._pairs):
            time = moment_in(event.x - frame.gutter, frame.span, self._num_cells(frame))
            self.post_message(self.Pressed(place, time))

    @property
    def _first(self) -> int:
        """The request in the upper line."""
        if self._frame is None:
            return 0
        last = len(self._pairs) - self.size.height
        return max(0, min(last, self._frame.selected - self.size.height // 2))

    def _num_cells(self, frame: GhostFrame) -> int:
        return max(1, self.size.width - frame.gutter - RESULT)

    def _pair_up(self) -> None:
        """Draw all cells anew where a run, the axis or the widget has changed."""
        frame = self._frame
        if frame is None:
            return
        width = self._num_cells(frame)
        drawn_for = (frame.base, frame.ghost, frame.sizes, frame.span, width)
        if drawn_for != self._drawn_for:
            self._drawn_for = drawn_for
            self._pairs = pair_up(frame.base, frame.ghost, frame.span, width)

    def _bar(self, frame: GhostFrame, tones: Sequence[Tone]) -> Iterable[Segment]:
        at = None
        if frame.cursor is not None:
            at = cell_of(frame.cursor, frame.span / len(tones), len(tones))
        cursor = Segment(self._cursor, self._styles["cursor"])
        return draw_around(self._runs, tones, at, cursor)

    def _runs(self, tones: Iterable[Tone]) -> Iterable[Segment]:
        for tone, run in groupby(tones):
            yield Segment(self._signs[tone] * sum(1 for _ in run), self._styles[tone.value])

    def _result(self, later: float | None) -> Segment:
        """By how much the lane was sooner than its ghost."""
        if later is None:
            return Segment(f"{'…':>{RESULT}}", self._styles["gutter"])
        style = "sooner" if later > 0 else "later" if later < 0 else "gutter"
        return Segment(f"{-later:>+{RESULT - 2}.3f} s", self._styles[style])
