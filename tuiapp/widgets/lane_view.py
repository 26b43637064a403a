"""`LaneView`: one lane: its title, its rows and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from tuiapp.lanes.lane import Lane
from tuiapp.lanes.track import Moment
from tuiapp.text import one_line
from tuiapp.widgets.lane_meters import LaneMeters, show_brief
from tuiapp.widgets.lane_rows import GUTTER, WIDE_GUTTER, LaneRows, RowsFrame
from tuiapp.widgets.lines import Line, describe


@dataclass(frozen=True, slots=True)
class LaneFrame:
    """What all lanes of one frame have in common.

    Attributes:
        cursor: seconds that are looked at, None for the newest moment.
        is_wide: whether there is room for meters beside the rows.
        has_numbers: whether numbers are drawn anew in this frame.
    """

    span: float
    cursor: float | None
    lanes: Sequence[Lane]
    is_wide: bool
    can_halve: bool
    has_numbers: bool


@dataclass(frozen=True, slots=True)
class LaneWords:
    """What is said of one lane.

    Attributes:
        progress: how far it is.
        verdict: how it compares with the winner; empty before there is one.
    """

    progress: str
    verdict: str


class LaneView(Vertical):
    """One of a fixed pool; it shows whichever lane it is given."""

    DEFAULT_CSS = """
    LaneView { height: auto; display: none; }
    LaneView.-shown { display: block; }
    LaneView Line { background: $panel; }
    LaneView.-picked Line { background: $panel; }
    LaneView Horizontal { height: auto; }
    """

    def __init__(self, index: int, *, ascii_only: bool = False) -> None:
        super().__init__()
        self._index = index
        self._ascii_only = ascii_only

    def compose(self) -> ComposeResult:
        yield Line()
        with Horizontal():
            yield LaneRows(self._index, ascii_only=self._ascii_only)
            yield LaneMeters()

    def show(
        self,
        lane: Lane,
        frame: LaneFrame,
        number: int,
        words: LaneWords,
        num_rows: int,
        selected: int | None,
    ) -> None:
        """Draw a frame.

        Args:
            number: the key that hides the lane.
            selected: the slot that is marked; None where another lane is picked.
        """
        moment = lane.moment(frame.cursor)
        self.set_class(selected is not None, "-picked")
        self.query_one(LaneRows).show(
            RowsFrame(
                track=lane.track,
                ended=lane.track.ended,
                moment=moment,
                num_slots=num_slots(lane),
                num_rows=num_rows,
                span=frame.span,
                cursor=frame.cursor,
                selected=selected,
                gutter=WIDE_GUTTER if frame.is_wide else GUTTER,
                can_halve=frame.can_halve,
            )
        )
        if frame.has_numbers:
            self._show_numbers(lane, frame, num_rows)
        if frame.cursor is None and lane.is_over:
            rest = words.verdict if frame.is_wide else show_brief(lane.report())
        elif lane.standing.log is None:
            rest = ""
        else:
            rest = _tell_moment(moment, is_wide=frame.is_wide)
        title = _title(lane, number, words.progress, rest, is_wide=frame.is_wide)
        self.query_one(Line).say(title)

    def _show_numbers(self, lane: Lane, frame: LaneFrame, num_rows: int) -> None:
        meters = self.query_one(LaneMeters)
        meters.display = frame.is_wide
        if frame.is_wide:
            meters.show(lane.report(), [each.report() for each in frame.lanes], num_rows)


def num_slots(lane: Lane) -> int:
    """Rows that a lane needs, one a slot."""
    return max(lane.settings.num_slots, len(lane.track.slots))


def _title(lane: Lane, number: int, done: str, rest: str, *, is_wide: bool) -> Content:
    """Its key, its name, how far it is, and what is to be said of it."""
    standing = lane.standing
    words = describe(standing.settings or lane.settings)
    what = words.replace(lane.name, "").strip(" ·") if is_wide else ""
    problem = standing.problem or next(iter(lane.complaints), "")
    return Content.assemble(
        (f"{number} ", "$accent"),
        (one_line(lane.name), "bold $primary"),
        (f" · {what}" if what else "", "$muted"),
        (f"  {done}  ", "bold"),
        (one_line(problem), "$error") if problem else (rest, "$foreground"),
    )


def _tell_moment(moment: Moment, *, is_wide: bool) -> str:
    """Who works, who waits, and what the clients have."""
    held = f", {moment.num_held} held idle" if moment.num_held else ""
    if not is_wide:
        tokens = f"{moment.num_delivered} of {moment.num_made} tokens out"
        return f"{moment.num_working} work{held}, {moment.num_waiting} wait, {tokens}"
    return (
        f"{moment.num_working} at work{held}, {moment.num_waiting} wait · "
        f"{moment.num_made} tokens made, {moment.num_delivered} delivered"
    )
