"""`SparingCompositor`: draws no more of a screen than what changed.

Textual's own asks every widget within the rectangle around all changes for all of its lines: where
the first and the last line of a screen change, that is everybody, ten times a second. This one asks
only for the lines that the update writes, and only those who are not covered there. What is written
is the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

Span = tuple[int, int, int]  # line, first column, column behind the last
Cells = dict[int, Strip | None]  # of a line: the strip that begins at a column


class SparingCompositor(Compositor):
    """For screens that change in many small places."""

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
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip)
            lines = [y for y in shown.line_range if _is_any_in(wanted.get(y), shown)]
            if not lines:
                continue
            for y, strip in _render(widget, region, shown, lines):
                self._put(cells[y], wanted[y], y, shown, strip)
                if not wanted[y]:
                    del wanted[y]
            if not wanted:
                break
        return cells

    def _touched(self, spans: Iterable[Span]) -> dict[int, set[int]]:
        """By line, where the cells begin that a span overlaps."""
        wanted: dict[int, set[int]] = {}
        for y, x1, x2 in spans:
            cuts = self.cuts[y]
            pairs = zip(cuts[:-1], cuts[1:], strict=True)
            touched = [begin for begin, end in pairs if begin < x2 and end > x1]
            wanted.setdefault(y, set()).update(touched)
        return wanted

    def _put(self, cells: Cells, wanted: set[int], y: int, shown: Region, strip: Strip) -> None:
        """Divide a widget's line into its cells, and take those that are wanted still."""
        begin, end = shown.column_span
        cuts = [cut for cut in self.cuts[y] if begin <= cut <= end]
        parts = strip.divide([cut - begin for cut in cuts[1:]])
        for cut, part in zip(cuts, parts, strict=False):
            if cut in wanted:
                wanted.remove(cut)
                cells[cut] = part


def _is_any_in(wanted: set[int] | None, shown: Region) -> bool:
    """Whether one of the cells of a line that are wanted lies in a region."""
    begin, end = shown.column_span
    return bool(wanted) and any(begin <= cut < end for cut in wanted)


def _render(
    widget: Widget, region: Region, shown: Region, lines: list[int]
) -> Iterable[tuple[int, Strip]]:
    """The wanted lines of a widget; what lies between them is rendered before and so is at hand."""
    crop = Region(
        shown.x - region.x, lines[0] - region.y, shown.width, lines[-1] - lines[0] + 1
    )
    strips = widget.render_lines(crop)
    return ((y, strips[y - lines[0]]) for y in lines)
