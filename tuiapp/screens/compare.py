"""The compare screen: the same requests through several engines on one time axis."""

from __future__ import annotations

from time import monotonic
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from engine.config import ConfigError
from tuiapp.keys import Keys
from tuiapp.lanes import Comparison, Contest, contest_of_preset
from tuiapp.lanes.lane import Lane
from tuiapp.lanes.traffic import PresetTraffic
from tuiapp.presets import Preset, list_presets
from tuiapp.screens.help import HelpScreen
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.lanes import LanesScreen, Lineup
from tuiapp.screens.picker import Choice, PickerScreen
from tuiapp.screens.picture import save_picture
from tuiapp.session import Session
from tuiapp.view.rewind import open_log
from tuiapp.widgets.compare_view import CompareView
from tuiapp.widgets.ghost_rows import GhostRows
from tuiapp.widgets.lane_rows import LaneRows
from tuiapp.widgets.too_small import TooSmall

FRAMES_PER_SECOND = 10
RUNNING = frozenset({"edit", "variants", "workload", "again"})  # actions that need an engine
NOTES = (
    "A column is a length of time, the same in every lane. A prompt's begin and a last token",
    "are drawn one column wide, however short they are. Two slots share a line, in halves of",
    "it, where there is no room for each; the picked lane opens first. A ghost shows one lane",
    "request by request, and behind it ◇ when the other lane was done with the same request.",
)


class CompareScreen(Screen[None]):
    """Runs the lanes on the session's engine, which goes on when the screen is left.

    Args:
        comparison: what to show first; one of kept runs has nothing to run.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c,q", "leave", "Back", key_display="esc", tooltip="Give the engine back"),
        Binding("space", "play", "Play", tooltip="Let all lanes run again together"),
        Binding("left", "scrub(-1)", "Scrub", key_display="← →", tooltip="A column back"),
        Binding("right", "scrub(1)", "Scrub", show=False, tooltip="A column on"),
        Binding("shift+left", "scrub(-10)", "Scrub", show=False, tooltip="Ten columns back"),
        Binding("shift+right", "scrub(10)", "Scrub", show=False, tooltip="Ten columns on"),
        Binding("home", "jump(0)", "Begin", show=False, tooltip="The first moment"),
        Binding("end", "jump(1)", "End", show=False, tooltip="The last moment"),
        Binding("f", "follow", "Follow", show=False, tooltip="Show the newest state again"),
        Binding("g", "ghost", "Ghost", tooltip="Two lanes over each other, by request"),
        Binding("tab", "next(1)", "Lane", key_display="⇥", tooltip="The next lane, or pair"),
        Binding("shift+tab", "next(-1)", "Lane", show=False, tooltip="The lane or pair before"),
        Binding("up", "select(-1)", "Select", show=False, tooltip="The slot or request before"),
        Binding("down", "select(1)", "Select", show=False, tooltip="The next slot or request"),
        Binding("enter", "inspect", "Life", key_display="⏎", tooltip="The life of the request"),
        Binding("e", "edit", "Lanes", tooltip="Choose the lanes: any batcher, any knobs"),
        Binding("1", "show_lane(0)", "Show", show=False, tooltip="Show a lane, or hide it"),
        Binding("2", "show_lane(1)", "Lanes", show=False, tooltip="Show a lane, or hide it"),
        Binding("3", "show_lane(2)", "Lanes", show=False, tooltip="Show a lane, or hide it"),
        Binding("4", "show_lane(3)", "Lanes", show=False, tooltip="Show a lane, or hide it"),
        Binding("v", "variants", "Variants", show=False, tooltip="The preset's, or every batcher"),
        Binding("w", "workload", "Workload", tooltip="Compare a preset workload"),
        Binding("r", "again", "Repeat", tooltip="Run the lanes once more, to tell noise apart"),
        Binding("s", "screenshot", "Screenshot", show=False, tooltip="Save this screen as SVG"),
        Binding("question_mark", "help", "Help", key_display="?", tooltip="This page"),
    ]
    AUTO_FOCUS = ""

    def __init__(self, session: Session, comparison: Comparison, keys: Keys) -> None:
        super().__init__()
        self._keys = keys
        self._session = session
        self._is_usual = False
        self._played_from: tuple[float, float] | None = None  # when, and from which moment
        self.comparison = comparison
        self.view = CompareView(self.comparison, ascii_only=keys.is_ascii)

    def compose(self) -> ComposeResult:
        yield self.view
        yield TooSmall()

    def on_mount(self) -> None:
        self.set_interval(1 / FRAMES_PER_SECOND, self.draw)
        self.call_after_refresh(self.draw_all)

    def on_unmount(self) -> None:
        self.comparison.cancel()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.draw_all)

    def draw(self, *, everything: bool = False) -> None:
        """Read on, and show what is new.

        Args:
            everything: draw all parts now, for a key press, a picture or a test.
        """
        has_news = self.comparison.poll()
        has_moved = self._advance()
        is_large = self.query_one(TooSmall).tell(self.size)
        self.view.display = is_large
        if is_large and (has_news or has_moved or everything):
            self.view.draw(everything=everything or not self.comparison.is_running)

    def draw_all(self) -> None:
        self.draw(everything=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Kept runs can be looked at only."""
        return self.comparison.can_run or action not in RUNNING

    def _advance(self) -> bool:
        """Go on playing, as fast as it happened."""
        if self._played_from is None:
            return False
        began, moment = self._played_from
        span = self.comparison.span
        self.view.cursor = min(span, moment + monotonic() - began)
        if self.view.cursor >= span:
            self._played_from = None
        return True

    def _compare(self, contest: Contest) -> None:
        """Begin anew."""
        self._show(self.comparison.afresh(contest))

    def _show(self, comparison: Comparison) -> None:
        """Go over to another comparison."""
        self.comparison.cancel()
        self._played_from = None
        self.comparison = comparison
        self.view.begin(self.comparison)
        self.draw_all()

    def action_play(self) -> None:
        """Play from the moment that is shown, or from the beginning; or stop."""
        if self._played_from:
            self._played_from = None
        else:
            cursor = self.view.cursor
            is_at_end = cursor is None or cursor >= self.comparison.span
            self._played_from = (monotonic(), 0.0 if is_at_end or cursor is None else cursor)
        self.draw_all()

    def action_scrub(self, columns: int) -> None:
        self._played_from = None
        span = self.comparison.span
        now = span if self.view.cursor is None else self.view.cursor
        size = span / self.view.num_cells
        self.look_at((round(now / size - 0.5) + columns + 0.5) * size)

    def action_jump(self, share: int) -> None:
        self._played_from = None
        self.look_at(share * self.comparison.span)

    def action_follow(self) -> None:
        self._played_from = None
        self.view.cursor = None
        self.draw_all()

    def look_at(self, time: float) -> None:
        """Show all lanes as they were so many seconds after they began."""
        self.view.cursor = max(0.0, min(self.comparison.span, time))
        self.draw_all()

    def action_ghost(self) -> None:
        self.view.toggle_ghost()
        self.draw_all()

    def action_next(self, step: int) -> None:
        self.view.pick_next(step)
        self.draw_all()

    def action_select(self, step: int) -> None:
        self.view.select(step)
        self.draw_all()

    def action_show_lane(self, index: int) -> None:
        if problem := self.comparison.toggle(index):
            self.notify(problem, timeout=3)
        self.draw_all()

    def action_edit(self) -> None:
        """Choose which engines run these requests."""
        shown = [lane.name for lane in self.comparison.shown]
        self.app.push_screen(
            LanesScreen(self.comparison.contest.entries, shown, self._keys), self._line_up
        )

    def _line_up(self, lineup: Lineup | None) -> None:
        if lineup:
            self._show(self.comparison.under(lineup.entries, lineup.shown))

    def action_variants(self) -> None:
        """Change over between what the preset compares and every batcher."""
        traffic = self.comparison.contest.traffic
        if not isinstance(traffic, PresetTraffic) or not traffic.preset.variants:
            self.notify("These requests have no variants but every batcher", timeout=3)
            return
        self._is_usual = not self._is_usual
        self._compare_preset(traffic.preset)

    def action_workload(self) -> None:
        self.app.push_screen(PickerScreen(self._session, list_presets, can_play=False), self._pick)

    def _pick(self, choice: Choice | None) -> None:
        if choice:
            self._is_usual = False
            self._compare_preset(choice.preset)

    def _compare_preset(self, preset: Preset) -> None:
        try:
            contest = contest_of_preset(preset, self._session.base, is_usual=self._is_usual)
        except ConfigError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self._compare(contest)

    def action_again(self) -> None:
        """Run the lanes once more; from the second run on their own spread tells noise apart."""
        self._show(self.comparison.again())

    def action_inspect(self) -> None:
        """The request that is marked, at the moment that is shown."""
        lane, request_id = self.view.marked()
        log = lane.standing.log
        if log is None or request_id is None:
            self.notify("No request is there at this moment", timeout=2)
            return
        self._played_from = None
        rewind = open_log(log)
        rewind.poll(0.0)
        if self.view.cursor is not None:
            rewind.go(max(1, lane.moment(self.view.cursor).num_passes))
        screen = InspectScreen(rewind, self._session, request_id)
        self.app.push_screen(screen, lambda number: self._go_to(lane, number))

    def _go_to(self, lane: Lane, number: int | None) -> None:
        if number is not None:
            self.look_at(lane.track.end_of_pass(number))

    @on(LaneRows.Pressed)
    def pick_place(self, event: LaneRows.Pressed) -> None:
        self._played_from = None
        self.view.pick(event.lane, event.slot)
        if event.moment is not None:
            self.view.cursor = event.moment
        self.draw_all()

    @on(GhostRows.Pressed)
    def pick_request(self, event: GhostRows.Pressed) -> None:
        self._played_from = None
        self.view.place = event.place
        if event.moment is not None:
            self.view.cursor = event.moment
        self.draw_all()

    def action_screenshot(self) -> None:
        save_picture(self)

    def action_help(self) -> None:
        shown = (each for each in self.BINDINGS if isinstance(each, Binding))
        self.app.push_screen(HelpScreen(shown, NOTES))

    def action_leave(self) -> None:
        self.comparison.cancel()
        self.dismiss()
