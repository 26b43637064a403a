"""`SparingCompositor`: draws no more of a screen than what changed.

Textual's own asks every widget within the rectangle around all changes for all of its lines: where
the first and the last line of a screen change, that is everybody, ten times a second. This one asks
only for the lines that the update writes, and only those who are not covered there. What is written
is the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

Span = tuple[int, int, int]  # line, first column, column behind the last
Cells = dict[int, Strip | None]  # of a line: the strip that begins at a column
Place = tuple[Widget, Region, Region]  # where it lies, and what of that is not clipped


class SparingCompositor(Compositor):
    """For screens that change in many small places."""

    def __init__(self) -> None:
        super().__init__()
        self._places: list[Place] = []  # in front of each other
        self._placed: dict[Widget, tuple[Region, Region]] | None = None

    def render_partial_update(self) -> ChopsUpdate | None:
        """Render what changed; None where nothing did."""
        screen = self.size.region
        regions = [region.intersection(screen) for region in self._dirty_regions]
        self._dirty_regions.clear()
        spans = list(self._regions_to_spans(region for region in regions if region))
        if not spans:
            return None
        ends = [cuts[1:] for cuts in self.cuts]
        return ChopsUpdate(self._fill(spans), spans, ends)

    def _fill(self, spans: Iterable[Span]) -> list[Cells]:
        """The strips of all cells that a span touches, by line; those in front win."""
        cells: list[Cells] = [dict.fromkeys(cuts[:-1]) for cuts in self.cuts]
        wanted = self._touched(spans)
        for widget, region, shown in self._find_places():
            x1, y1, x2, y2 = shown.corners
            lines = [
                y
                for y, begins in wanted.items()
                if y1 <= y < y2 and begins[0] < x2 and begins[-1] >= x1
            ]
            if lines:
                for y, strip in _render(widget, region, shown, lines):
                    self._put(cells[y], wanted[y], y, shown, strip)
                wanted = {y: begins for y, begins in wanted.items() if begins}
            if not wanted:
                break
        return cells

    def _touched(self, spans: Iterable[Span]) -> dict[int, list[int]]:
        """By line, from above, where the cells begin that a span overlaps, from the left."""
        wanted: dict[int, list[int]] = {}
        for y, x1, x2 in spans:
            cuts, begins = self.cuts[y], wanted.setdefault(y, [])
            for begin, end in pairwise(cuts):
                if begin < x2 and end > x1 and begin not in begins:
                    begins.append(begin)
        return wanted

    def _find_places(self) -> list[Place]:
        """All widgets that can be seen, those in front first."""
        if self._placed is not self.visible_widgets:
            self._placed = self.visible_widgets
            self._places = [
                (widget, region, shown)
                for widget, (region, clip) in self._placed.items()
                if (shown := region.intersection(clip))
            ]
        return self._places

    def _put(self, cells: Cells, wanted: list[int], y: int, shown: Region, strip: Strip) -> None:
        """Divide a widget's line into its cells, and take those that are wanted still."""
        begin, end = shown.x, shown.right
        cuts = [cut for cut in self.cuts[y] if begin <= cut <= end]
        parts = strip.divide([cut - begin for cut in cuts[1:]])
        for cut, part in zip(cuts, parts, strict=False):
            if cut in wanted:
                wanted.remove(cut)
                cells[cut] = part


def _render(
    widget: Widget, region: Region, shown: Region, lines: list[int]
) -> Iterable[tuple[int, Strip]]:
    """The wanted lines of a widget; what lies between them is rendered before and so is at hand."""
    top, height = lines[0], lines[-1] - lines[0] + 1
    strips = widget.render_lines(Region(shown.x - region.x, top - region.y, shown.width, height))
    return ((y, strips[y - top]) for y in lines)
