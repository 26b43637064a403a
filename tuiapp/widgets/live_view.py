"""`LiveView`: the parts of the live screen, arranged for the terminal."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Grid, Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from tuiapp.keys import Keys
from tuiapp.preferences import Preferences
from tuiapp.session import Session
from tuiapp.view.filtering import Filter
from tuiapp.view.layout import Layout, lay_out
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.story import Story
from tuiapp.view.tell import tell, tell_loading
from tuiapp.widgets.kv_map import KvMap
from tuiapp.widgets.lines import Legend, StoryLine
from tuiapp.widgets.meters import MeterLine, MetersPanel
from tuiapp.widgets.queue_panel import QueuePanel
from tuiapp.widgets.timeline import Timeline
from tuiapp.widgets.title import Title
from tuiapp.widgets.token_pane import TokenPane

NUM_PANES = 8
NEWS_SECONDS = 8.0
READING_FRAMES = 5  # from one moment that is told in words and numbers to the next


class LiveView(Vertical):
    """Hands each part the snapshot.

    The timeline moves in every frame. All that is read in words and numbers moves together, about
    as often as one can read it: a part that lagged behind would contradict the one beside it, and
    the engine, which shares this process, hardly notices.

    Attributes:
        selected: the request that is marked in the timeline and the queue.
        filter: which requests the panes and the queue show.
        moment: the earlier pass that is shown and the newest one; None for the newest state.
    """

    def __init__(self, session: Session, preferences: Preferences, keys: Keys) -> None:
        super().__init__(id="view")
        self.selected: str | None = None
        self.filter = Filter()
        self.moment: tuple[int, int] | None = None
        self._session = session
        self._keys = keys
        self._ascii_only = preferences.ascii
        self._num_panes = preferences.panes
        self._layout_now: Layout | None = None
        self._num_frames = 0
        self._news: Story | None = None
        self._news_until: float | None = None
        is_mine, ascii_only = session.injector.is_mine, preferences.ascii
        self._title = Title(id="title")
        self._timeline = Timeline(is_mine, ascii_only=ascii_only)
        self._meters, self._meter_line = MetersPanel(), MeterLine(id="meter-line")
        self._story = StoryLine(id="story")
        self._panes = [TokenPane(slot) for slot in range(NUM_PANES)]
        self._queue = QueuePanel(is_mine, ascii_only=ascii_only)
        self._kv_map = KvMap(ascii_only=ascii_only)

    def compose(self) -> ComposeResult:
        yield self._title
        with Horizontal(id="top"):
            with Vertical(id="frame") as frame:
                frame.border_title = Content("slots × passes")
                frame.border_subtitle = Content("1 column = 1 forward pass  →  newest")
                yield self._timeline
            yield self._meters
        yield self._meter_line
        yield self._story
        with Grid(id="panes"):
            yield from self._panes
        with Horizontal(id="bottom"):
            yield self._queue
            yield self._kv_map
        yield Legend(ascii_only=self._ascii_only)

    def draw(self, snapshot: Snapshot, *, everything: bool) -> None:
        """Draw a frame.

        Args:
            everything: draw all parts now, for a key press, a picture or a test.
        """
        before, layout = self._layout_now, self._arrange(snapshot)
        self._timeline.show(snapshot, layout.num_rows, self.selected)
        is_turn = self._num_frames % READING_FRAMES == 0
        self._num_frames += 1
        if everything or is_turn or layout != before:
            self._draw_readings(snapshot, layout)
        elif snapshot.info is None:
            self._draw_story(snapshot)  # what is waited for moves in every frame

    def panels(self) -> dict[str, Widget]:
        """What can be gone to, by the key that leads there."""
        named = {
            "t": self._timeline,
            "m": self._meters,
            "q": self._queue,
            "k": self._kv_map,
        }
        panes = {str(pane.slot + 1): pane for pane in self._panes}
        return {key: each for key, each in (named | panes).items() if each.region.area}

    def announce(self, story: Story) -> None:
        """Tell this for some seconds in place of what can be seen."""
        self._news, self._news_until = story, None

    def _arrange(self, snapshot: Snapshot) -> Layout:
        """Fit the parts to the terminal and to the number of slots."""
        num_slots = len(snapshot.slots) or NUM_PANES
        layout = lay_out(*self.screen.size, num_slots=num_slots, most_panes=self._num_panes)
        if layout != self._layout_now:
            self._layout_now = layout
            self.set_class(layout.is_wide, "-wide")
            self.set_class(layout.has_bottom, "-bottom")
            panes = self.query_one("#panes", Grid)
            panes.styles.grid_size_columns = layout.num_columns
            panes.styles.grid_size_rows = -(-layout.num_panes // layout.num_columns)
            for pane in self._panes:
                pane.display = pane.slot < layout.num_panes
        return layout

    def _draw_readings(self, snapshot: Snapshot, layout: Layout) -> None:
        self._draw_panes(snapshot, layout)
        self._draw_meters(snapshot, layout)
        if layout.has_bottom:
            self._queue.show(snapshot, self.selected, self.filter)
            self._kv_map.show(snapshot)
        self._draw_story(snapshot)

    def _draw_panes(self, snapshot: Snapshot, layout: Layout) -> None:
        delivery = snapshot.settings.delivery
        slots = self._slots_of_panes(snapshot)
        for pane in self._panes[: layout.num_panes]:
            slot = slots[pane.slot] if pane.slot < len(slots) else len(snapshot.slots)
            owner, last = snapshot.owners(slot)
            is_mine = bool(owner and self._session.injector.is_mine(owner.id))
            pane.show(owner or last, delivery, is_mine=is_mine, is_over=owner is None)

    def _slots_of_panes(self, snapshot: Snapshot) -> list[int]:
        """The slot that each pane shows: all in their order, or with a filter those that match."""
        slots = range(len(snapshot.slots))
        if not self.filter.text:
            return list(slots)
        shown = {slot: snapshot.owners(slot) for slot in slots}
        return [slot for slot, (owner, last) in shown.items() if self.filter.among([owner or last])]

    def _draw_meters(self, snapshot: Snapshot, layout: Layout) -> None:
        session = self._session
        is_past = self.moment or session.replay
        settings = snapshot.settings if is_past else session.settings
        self._title.show(
            snapshot,
            settings,
            _playing(session),
            is_paused=session.is_paused,
            is_replay=session.replay is not None,
            moment=self.moment,
        )
        if layout.is_wide:
            self._meters.show(snapshot)
        else:
            self._meter_line.show(snapshot)

    def _draw_story(self, snapshot: Snapshot) -> None:
        if self._news and self._news_until is None:
            self._news_until = snapshot.time + NEWS_SECONDS
        if self._news_until is not None and snapshot.time >= self._news_until:
            self._news = self._news_until = None
        told = self._tell(snapshot)
        story = told if self.moment else self._news or told
        can_act = not (self.moment or self._session.replay)
        self._story.show(story, has_hint=can_act)

    def _tell(self, snapshot: Snapshot) -> Story:
        session = self._session
        if snapshot.info is None:
            model = session.spec.model if session.spec else ""
            return tell_loading(session.loading.step, snapshot.time, model)
        is_paused, is_replay = session.is_paused, session.replay is not None
        return tell(
            snapshot,
            self._keys,
            is_paused=is_paused,
            selected=self.selected,
            is_replay=is_replay,
        )


def _playing(session: Session) -> str:
    """What plays, and how fast."""
    is_as_fast = session.speed == 1 or not session.title
    return session.title + ("" if is_as_fast else f" ×{session.speed:g}")
