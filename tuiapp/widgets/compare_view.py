"""`CompareView`: the parts of the compare screen, arranged for the terminal."""

from __future__ import annotations

import re
from itertools import permutations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from tuiapp.lanes import Comparison, Lane, tell_lane, tell_verdict
from tuiapp.lanes.axis import draw_axis, show_seconds
from tuiapp.lanes.comparison import MOST
from tuiapp.lanes.ghost import tell_ghost
from tuiapp.lanes.layout import share_rows
from tuiapp.lanes.progress import tell_lane_progress
from tuiapp.lanes.track import nearest
from tuiapp.lanes.winner import find_winner
from tuiapp.text import one_line
from tuiapp.view.layout import TALL, WIDE
from tuiapp.widgets.ghost_rows import RESULT, GhostFrame, GhostRows
from tuiapp.widgets.key_bar import KeyBar
from tuiapp.widgets.lane_rows import GUTTER, WIDE_GUTTER
from tuiapp.widgets.lane_view import LaneFrame, LaneView, LaneWords, num_slots
from tuiapp.widgets.lines import Legend, Line

METERS = 29  # cells beside the rows of a lane
NUMBERS_EVERY = 5  # frames
RATIO = re.compile(r"(\d+(?:\.\d+)?×)")


class CompareView(Vertical):
    """Draws a comparison at the moment that is looked at.

    Attributes:
        cursor: seconds that are looked at; None for the newest state.
        is_ghost: whether two lanes are shown over each other, in place of all side by side.
        place: the request that is marked among those over each other.
    """

    DEFAULT_CSS = """
    CompareView { height: 1fr; }
    CompareView > #head { height: 1; background: $panel; }
    CompareView #where { text-align: right; }
    CompareView > #lanes { height: auto; overflow: hidden; }
    CompareView > #over { height: 1fr; display: none; }
    CompareView.-ghost > #lanes { display: none; }
    CompareView.-ghost > #over { display: block; }
    CompareView > #axis { color: $muted; padding: 0; }
    CompareView > #verdict { height: 1fr; min-height: 1; padding: 0 1; }
    CompareView.-ghost > #verdict { height: 2; }
    CompareView.-short > #verdict { text-wrap: nowrap; text-overflow: ellipsis; }
    CompareView > #legend { display: none; }
    CompareView.-tall > #legend { display: block; }
    CompareView > Footer { dock: none; }
    """

    def __init__(self, comparison: Comparison, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._num_frames = 0
        self.cursor: float | None = None
        self.is_ghost = False
        self.begin(comparison)

    def begin(self, comparison: Comparison) -> None:
        """Show another comparison."""
        self._comparison = comparison
        self._picked = 0
        self._slot = 0
        self._pair = 0
        self.place = 0
        self.cursor = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="head"):
            yield Line(id="what")
            yield Line(id="where")
        with Vertical(id="lanes"):
            for index in range(MOST):
                yield LaneView(index, ascii_only=self._ascii_only)
        with Vertical(id="over"):
            yield Line(id="pair")
            yield GhostRows(ascii_only=self._ascii_only)
        yield Line(id="axis")
        yield Static(id="verdict", markup=False)
        yield Legend(ascii_only=self._ascii_only)
        yield KeyBar()

    @property
    def lanes(self) -> tuple[Lane, ...]:
        return self._comparison.shown

    @property
    def num_cells(self) -> int:
        """Columns of the time axis."""
        beside = RESULT if self.is_ghost else METERS if self._is_wide else 0
        return max(1, self.screen.size.width - self._gutter - beside)

    def draw(self, *, everything: bool) -> None:
        """Draw a frame; numbers only in some of them while lanes run, or if `everything` is."""
        has_numbers = everything or self._num_frames % NUMBERS_EVERY == 0
        self._num_frames += 1
        self._picked = min(self._picked, len(self.lanes) - 1)
        height = self.screen.size.height
        self.set_class(self.is_ghost, "-ghost")
        self.set_class(height >= TALL, "-tall")
        self.set_class(self._is_short, "-short")
        self._draw_head()
        if self.is_ghost:
            self._draw_ghost()
        else:
            self._draw_lanes(height, has_numbers=has_numbers)
        self._draw_axis()
        self._draw_verdict()

    def toggle_ghost(self) -> None:
        """Over each other, the winner over the first of the others; or side by side again."""
        self.is_ghost = not self.is_ghost
        over = [lane for lane in self.lanes if lane.is_over]
        if self.is_ghost and len(over) > 1:
            winner = find_winner(over)
            wanted = next(i for i, pair in enumerate(self._pairs) if pair[0] is winner)
            self._pair = wanted

    def pick_next(self, step: int) -> None:
        """The next lane, or the next two of them over each other."""
        if self.is_ghost:
            self._pair = (self._pair + step) % len(self._pairs)
        else:
            self._picked = (self._picked + step) % len(self.lanes)
            self._slot = 0

    def pick(self, index: int, slot: int | None) -> None:
        """That lane, and a slot of it."""
        self._picked, self._slot = index, self._slot if slot is None else slot

    def select(self, step: int) -> None:
        """Mark another slot, over the end of a lane in the next one; or another request."""
        if self.is_ghost:
            last = len(self._over[0].track.passages) - 1
            self.place = max(0, min(last, self.place + step))
            return
        slot = self._slot + step
        if slot < 0 and self._picked:
            self._picked -= 1
            slot = num_slots(self.lanes[self._picked]) - 1
        elif slot >= num_slots(self.lanes[self._picked]) and self._picked + 1 < len(self.lanes):
            self._picked, slot = self._picked + 1, 0
        self._slot = max(0, min(num_slots(self.lanes[self._picked]) - 1, slot))

    def marked(self) -> tuple[Lane, str | None]:
        """The request that is marked, or else who ran nearest to there, and its lane."""
        if self.is_ghost:
            lane = self._over[0]
            ids = list(lane.track.passages)
            return lane, ids[self.place] if self.place < len(ids) else None
        lane = self.lanes[self._picked]
        slots = lane.moment(self.cursor).slots
        stretch = slots[self._slot] if self._slot < len(slots) else None
        stretch = stretch or nearest(lane.track, self._slot, self.cursor)
        return lane, stretch.request_id if stretch else None

    @property
    def _pairs(self) -> list[tuple[Lane, ...]]:
        return list(permutations(self.lanes, 2))

    @property
    def _over(self) -> tuple[Lane, Lane]:
        """The lane that is shown whole, and its ghost."""
        pairs = self._pairs
        base, ghost = pairs[self._pair % len(pairs)]
        return base, ghost

    @property
    def _is_wide(self) -> bool:
        return self.screen.size.width >= WIDE

    @property
    def _is_short(self) -> bool:
        """Whether there is but one line for the verdict."""
        has_room = self.screen.size.height >= TALL or len(self.lanes) < MOST
        return not has_room and not self.is_ghost

    @property
    def _gutter(self) -> int:
        return WIDE_GUTTER if self._is_wide or self.is_ghost else GUTTER

    def _draw_head(self) -> None:
        comparison = self._comparison
        contest = comparison.contest
        if self.cursor is not None:
            state = (f"◀ {show_seconds(self.cursor)}", "bold $accent")
        elif comparison.is_running:
            state = ("▶", "$success")
        else:
            state = ("‖ finished", "bold $warning")
        what = Content.assemble(("▚ compare", "bold $primary"), "   ", state)
        measured = "measured here" if comparison.can_run else "kept runs"
        times = "simulated" if comparison.is_simulated else measured
        size = show_seconds(comparison.span / self.num_cells)
        requests = contest.tell_requests(is_brief=not self._is_wide)
        where = f"{one_line(contest.name)} · {requests} · {times} · 1 column = {size}"
        self.query_one("#what", Line).say(what)
        self.query_one("#where", Line).say(Content.styled(where, "$muted"))
        self.query_one("#what", Line).styles.width = 24

    def _draw_lanes(self, height: int, *, has_numbers: bool) -> None:
        lines = height - self._num_other_lines(height)
        rows = share_rows(lines, [num_slots(lane) for lane in self.lanes], self._picked)
        can_halve = not (self._ascii_only or self.app.no_color)
        frame = LaneFrame(
            self._comparison.span, self.cursor, self.lanes, self._is_wide, can_halve, has_numbers
        )
        for index, view in enumerate(self.query(LaneView)):
            view.set_class(index < len(self.lanes), "-shown")
            if index < len(self.lanes):
                lane = self.lanes[index]
                number = self._comparison.lanes.index(lane) + 1
                words = LaneWords(
                    tell_lane_progress(self._comparison, lane), tell_lane(lane, self.lanes)
                )
                slot = self._slot if index == self._picked else None
                view.show(lane, frame, number, words, rows[index], slot)

    def _num_other_lines(self, height: int) -> int:
        """Head, axis, verdict, legend and footer."""
        return 4 + (not self._is_short) + (height >= TALL)

    def _draw_ghost(self) -> None:
        base, ghost = self._over
        frame = GhostFrame(
            base=base.track,
            ghost=ghost.track,
            sizes=(base.track.ended, ghost.track.ended),
            span=self._comparison.span,
            cursor=self.cursor,
            selected=self.place,
            gutter=self._gutter,
        )
        self.query_one(GhostRows).show(frame)
        self.query_one("#pair", Line).say(
            Content.assemble(
                (one_line(base.name), "bold $primary"),
                " over the ghost of ",
                (one_line(ghost.name), "bold $accent"),
                ("   ◇ when that one had answered", "$muted"),
            )
        )

    def _draw_axis(self) -> None:
        axis = " " * self._gutter + draw_axis(self._comparison.span, self.num_cells)
        self.query_one("#axis", Line).say(Content.styled(axis, "$muted"))

    def _draw_verdict(self) -> None:
        if self.is_ghost:
            story = tell_ghost(*self._over)
        else:
            story = tell_verdict(self._comparison, is_brief=self._is_short)
        text = Content.assemble(
            ("▸ ", "$accent"), (one_line(story.point), "bold"), *_emphasise(one_line(story.rest))
        )
        verdict = self.query_one("#verdict", Static)
        shown = verdict.content
        if not isinstance(shown, Content) or not text.is_same(shown):
            verdict.update(text, layout=False)


def _emphasise(text: str) -> list[tuple[str, str]]:
    """The text with its ratios in bold."""
    parts = RATIO.split(f" {text}" if text[:1].isalnum() else text)
    return [(part, "bold $success" if RATIO.fullmatch(part) else "") for part in parts]
