"""The waiting queue: who waits, how long already, and how much work each one is."""

from __future__ import annotations

from collections.abc import Callable

from textual import events

from engine.settings import SchedulingPolicy
from tuiapp.explain import name_reason
from tuiapp.text import one_line
from tuiapp.view.filtering import Filter
from tuiapp.view.phases import ASCII_GLYPHS, GLYPHS, Phase
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.tracked import RequestView
from tuiapp.widgets.panel import Panel, Row
from tuiapp.widgets.picked import Picked

NAME_WIDTH = 10
TOKENS_PER_CELL = 24
NO_FILTER = Filter()


class QueuePanel(Panel):
    """A row a request, the head of the queue first; the wheel reaches those further behind."""

    HELP = (
        "Who waits, the next to be admitted first: the tokens to compute, the tokens to generate "
        "at most, and the time waited. A cross is one that ran already and was evicted. Below "
        "stands why the first one is not admitted. A click opens the life of a request."
    )

    def __init__(self, is_mine: Callable[[str], bool], *, ascii_only: bool = False) -> None:
        super().__init__("queue", id="queue")
        self._is_mine = is_mine
        self._glyphs = ASCII_GLYPHS if ascii_only else GLYPHS
        self._first = 0
        self._shown: tuple[str, ...] = ()

    def show(
        self, snapshot: Snapshot, selected: str | None = None, wanted: Filter = NO_FILTER
    ) -> None:
        """Draw a frame, with one request marked, of those that match."""
        room = max(1, self.size.height)
        waiting = wanted.among(snapshot.waiting)
        ids = [view.id for view in waiting]
        first = max(0, ids.index(selected) - room + 1) if selected in ids else self._first
        self._first = first = max(0, min(first, len(ids) - room))
        shown = waiting[first : first + room]
        self._shown = tuple(ids[first : first + room])
        ranks = snapshot.settings.scheduling_policy is SchedulingPolicy.PRIORITY
        rows = [self._row(view, snapshot.time, view.id == selected, ranks=ranks) for view in shown]
        count = snapshot.meters.num_waiting
        reason = f" · {name_reason(snapshot.skipped[0])}" if count and snapshot.skipped else ""
        if wanted.text:
            reason = f", {len(ids)} of the first {len(snapshot.waiting)} match"
        empty: list[Row] = [[("nobody waits", "$muted")]]
        self.say(rows or empty, f"{count} waiting{reason}")

    def on_click(self, event: events.Click) -> None:
        row = event.get_content_offset(self)
        if row and row.y < len(self._shown):
            self.post_message(Picked(self._shown[row.y]))

    def on_mouse_scroll_down(self) -> None:
        self._first += 1

    def on_mouse_scroll_up(self) -> None:
        self._first = max(0, self._first - 1)

    def _row(self, view: RequestView, now: float, is_selected: bool, *, ranks: bool) -> Row:
        name = one_line(view.id)
        name = name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 1] + "…"
        age = max(0.0, now - view.arrival)
        waited = f"{age:.1f} s" if age >= 10 else f"{age * 1000:.0f} ms"
        todo = view.num_prompt_tokens + view.num_output_tokens
        width = max(0, self.size.width - (44 if ranks else 40))
        prefill = min(width, -(-todo // TOKENS_PER_CELL))
        decode = min(max(0, width - prefill), -(-view.num_left // TOKENS_PER_CELL))
        style = "bold $accent" if self._is_mine(view.id) else "bold"
        return [
            (f"{name:<{NAME_WIDTH}}", f"{style} reverse" if is_selected else style),
            (f"{todo:>6} in {view.num_left:>4} out", "$muted"),
            (f"{f'p{view.priority}':>4}" if ranks else "", "$accent"),
            (f"{waited:>9}", "$warning"),
            (" ✗ " if view.num_preemptions else "   ", "$phase-evicted"),
            (self._glyphs[Phase.PREFILL] * prefill, "$phase-prefill"),
            (self._glyphs[Phase.DECODE] * decode, "$phase-decode-ink"),
        ]
