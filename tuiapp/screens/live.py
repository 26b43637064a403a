"""The live screen: what the engine does now, drawn ten times a second."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static

from engine.config import ConfigError
from engine.settings import BatcherName
from tuiapp.attacks import Attacks
from tuiapp.knobs import next_system, read_systems
from tuiapp.lanes.choose import choose_contest
from tuiapp.library.library import Library
from tuiapp.presets import Preset, list_presets
from tuiapp.reverse import Reverse
from tuiapp.rewind import Rewind, open_log
from tuiapp.screens.attack import AttackScreen
from tuiapp.screens.compare import CompareScreen
from tuiapp.screens.failure import FailureScreen
from tuiapp.screens.help import HelpScreen
from tuiapp.screens.inject import InjectScreen
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.knobs import KnobsScreen
from tuiapp.screens.lessons import LessonsScreen
from tuiapp.screens.live_keys import BINDINGS, LIVE_ACTIONS, REPLAY_ACTIONS
from tuiapp.screens.picker import PickerScreen
from tuiapp.screens.picture import save_picture
from tuiapp.screens.profile import ProfileScreen
from tuiapp.screens.run_reports import RunReports
from tuiapp.screens.utilisation import UtilisationScreen
from tuiapp.session import Session
from tuiapp.snapshot import Notice, Snapshot
from tuiapp.story import Story
from tuiapp.text import clean
from tuiapp.widgets.live_view import LiveView
from tuiapp.widgets.timeline import Timeline

FRAMES_PER_SECOND = 10
MIN_WIDTH, MIN_HEIGHT = 80, 24
EXIT_FAILED, EXIT_USAGE = 1, 2


class LiveScreen(Screen[None]):
    """Polls the view model and hands each widget the snapshot.

    Args:
        on_ready: called once when the engine takes requests.
    """

    BINDINGS: ClassVar[list[BindingType]] = BINDINGS

    def __init__(
        self,
        session: Session,
        rewind: Rewind,
        on_ready: Callable[[Session], None] = lambda session: None,
        *,
        ascii_only: bool = False,
        library: Library | None = None,
    ) -> None:
        super().__init__()
        self._session = session
        self._rewind = rewind
        self._on_ready: Callable[[Session], None] | None = on_ready
        self._view = LiveView(session, ascii_only=ascii_only)
        self._num_notices = 0
        self._systems = read_systems()
        self._attacks = Attacks(session)
        self._reverse = Reverse()
        self._reports = RunReports(self, session, library, self._go_to)
        self.snapshot = self.newest = Snapshot(settings=session.settings)

    def compose(self) -> ComposeResult:
        yield self._view
        yield Footer(show_command_palette=False)
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        self.set_interval(1 / FRAMES_PER_SECOND, self.draw)
        self.draw_all()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.draw_all)

    def draw(self, *, everything: bool = False) -> None:
        """Show what happened since the last frame.

        Args:
            everything: draw all parts now, for a key press, a picture or a test.
        """
        now = self._session.backend.now()
        if self._session.backend.log is not self._rewind.log:
            self._rewind = open_log(self._session.backend.log)
            self._num_notices = self._rewind.poll(now).num_notices  # told when they were new
        newest = self._rewind.poll(now)
        if newest.info and newest.settings is not self.newest.settings:
            self._session.settings = newest.settings  # whoever changed them
        if newest.info is not self.newest.info:
            self.refresh_bindings()  # there is somebody to take orders now
        self.newest = newest
        if newest.info and self._on_ready:
            ready, self._on_ready = self._on_ready, None
            self._session.settle(newest.settings)
            ready(self._session)
        self._tell_news(newest)
        self._reports.poll(newest)
        self._go_back()
        at, self.snapshot = self._rewind.at, self._rewind.snapshot
        self._view.moment = (at, self._rewind.newest) if at else None
        if self._fits():
            self._view.draw(self.snapshot, everything=everything)

    def draw_all(self) -> None:
        """Show everything at once."""
        self.draw(everything=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A recording takes no orders, and an engine cannot be sent to another moment."""
        if self.newest.info is None and action in LIVE_ACTIONS:
            return False  # while a model loads there is nobody to take them
        return action not in (LIVE_ACTIONS if self._session.replay else REPLAY_ACTIONS)

    def _fits(self) -> bool:
        """Whether the terminal is large enough; if not, one line says so and the engine goes on."""
        width, height = self.size
        is_too_small = width < MIN_WIDTH or height < MIN_HEIGHT
        self.set_class(is_too_small, "-too-small")
        if is_too_small:
            text = f"batchscope needs {MIN_WIDTH}×{MIN_HEIGHT}, now {width}×{height}"
            self.query_one("#too-small", Static).update(Content(text))
        return not is_too_small

    def _tell_news(self, snapshot: Snapshot) -> None:
        """Toasts for refusals, a modal for failures, each once."""
        new = snapshot.num_notices - self._num_notices
        self._num_notices = snapshot.num_notices
        for notice in snapshot.notices[-new:] if new else ():
            self._announce(notice)

    def _announce(self, notice: Notice) -> None:
        if notice.is_fatal and self.newest.info is None:
            code = EXIT_USAGE if notice.is_usage else EXIT_FAILED
            self.app.exit(return_code=code, message=Text(f"batchscope: {clean(notice.message)}"))
        elif not notice.is_failure:
            self.notify(notice.message, severity="warning", markup=False)
        elif notice.is_usage and not notice.is_fatal:
            self._session.settings = self.newest.settings
            self.notify(notice.message, severity="error", markup=False)
        elif not isinstance(self.app.screen, FailureScreen):
            self.app.push_screen(FailureScreen(notice))
        elif notice.is_fatal:  # it outweighs the failure that is being told
            self.app.switch_screen(FailureScreen(notice))

    def action_pause(self) -> None:
        """Pause or go on; what runs backwards only stops."""
        if self._reverse.is_on:
            self._reverse.stop()
        else:
            self._session.toggle_pause()
        self.draw_all()

    def action_step(self, count: int) -> None:
        if not self._session.is_paused:
            self._session.toggle_pause()
        self._session.backend.step(count)
        self.action_follow()

    def action_batcher(self, name: str) -> None:
        self._session.set_batcher(BatcherName(name))
        self.draw_all()

    def action_inject(self) -> None:
        if self._session.prompts is not None:
            self.app.push_screen(InjectScreen(self._session, lambda: self.newest))

    def action_burst(self) -> None:
        if count := self._session.burst():
            self.notify(f"{count} requests of varied length", timeout=2)

    def action_workload(self) -> None:
        if self._session.prompts is not None:
            self.app.push_screen(PickerScreen(self._session, list_presets), self._play)

    def _play(self, preset: Preset | None) -> None:
        if preset is None:
            return
        try:
            self._session.play_preset(preset)
        except ConfigError as error:
            self.notify(str(error), severity="error", markup=False)
        self.draw_all()

    def action_compare(self) -> None:
        """Run what plays here, or has arrived here, through several engines."""
        spec = self._session.spec
        if spec is None or self._session.prompts is None:
            return
        try:
            contest = choose_contest(self._session)
        except ConfigError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if contest is None:
            self.notify("Nothing has arrived that could be compared: b sends a burst", timeout=3)
            return
        ascii_only = bool(getattr(self.app, "ascii_only", False))
        self.app.push_screen(CompareScreen(self._session, spec, contest, ascii_only=ascii_only))

    def action_knobs(self) -> None:
        if self.snapshot.info:
            self.app.push_screen(KnobsScreen(self._session))

    def action_system(self) -> None:
        """Schedule as the next named system would, and say how far it is the same."""
        system = next_system(self._session.settings, self._systems)
        try:
            self._session.configure(system.apply(self._session.settings))
        except ConfigError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._view.announce(Story(f"As {system.name}", f": {system.story}."))
        self.draw_all()

    def action_attack(self) -> None:
        if self.snapshot.info:
            self.app.push_screen(AttackScreen(self._attacks, lambda: self.newest))

    def action_utilisation(self) -> None:
        if self.snapshot.info:
            self.app.push_screen(UtilisationScreen(self._session, self.snapshot.info))

    def action_profile(self) -> None:
        if self.snapshot.info:
            self.app.push_screen(ProfileScreen(self._session, self.snapshot.info))

    def action_lessons(self) -> None:
        if self._session.prompts is not None:
            self.app.push_screen(LessonsScreen(self._session, lambda: self.newest))

    def action_flush(self) -> None:
        self._session.backend.flush()

    def action_speed(self, steps: int) -> None:
        speed = self._session.change_speed(steps)
        what = "Playback" if self._session.replay else "Arrivals"
        self.notify(f"{what} ×{speed:g}", timeout=2)

    def action_select(self, rows: int) -> None:
        """Move the selection over the slots in use, then the queue."""
        views = [view for view in (*self.snapshot.slots, *self.snapshot.waiting) if view]
        ids = [view.id for view in views]
        if not ids:
            return
        if self._view.selected in ids:
            index = ids.index(self._view.selected) + rows
        else:
            index = 0 if rows > 0 else len(ids) - 1
        self._view.selected = ids[max(0, min(len(ids) - 1, index))]
        self.draw_all()

    def action_inspect(self) -> None:
        views = [view for view in (*self.snapshot.slots, *self.snapshot.waiting) if view]
        chosen = self._view.selected or (views[0].id if views else None)
        if chosen:
            self._inspect(chosen)

    @on(Timeline.Picked)
    def inspect_cell(self, event: Timeline.Picked) -> None:
        self._view.selected = event.request_id
        self._inspect(event.request_id)

    def _inspect(self, request_id: str) -> None:
        if self._rewind.request(request_id) is None:
            self.notify(f"{request_id} is no longer remembered", markup=False)
        else:
            screen = InspectScreen(self._rewind, self._session, request_id)
            self.app.push_screen(screen, self._go_to)

    def _go_to(self, number: int | None) -> None:
        if number is not None:
            self._reverse.stop()
            self._rewind.go(number)
            self.draw_all()

    def action_rewind(self, passes: int) -> None:
        """Show an earlier pass, or a later one, and say so where there is none."""
        self._reverse.stop()
        wanted = (self._rewind.at or self._rewind.newest) + passes
        if not self._rewind.move(passes) and not self._seek_pass(wanted):
            self.notify(self._rewind.limit(is_back=passes < 0), timeout=3)
        self.draw_all()

    def action_jump(self, seconds: int) -> None:
        """Go on from another moment of a recording."""
        self._reverse.stop()
        if replay := self._session.replay:
            self._rewind.follow()
            replay.seek(max(0.0, replay.now() + seconds))

    def _seek_pass(self, number: int) -> bool:
        """In a recording, hold a pass, counted from 1, that is not in memory; False elsewhere."""
        replay = self._session.replay
        if not replay or number < 1:
            return False
        if not self._session.is_paused:
            self._session.toggle_pause()
        self._rewind.follow()
        replay.seek_pass(number - 1)
        return True

    def action_reverse(self) -> None:
        """Let a recording run backwards, at the speed of its playback."""
        if not self._session.is_paused:
            self._session.toggle_pause()
        self._reverse.start(monotonic())

    def _go_back(self) -> None:
        """Go back as far as is due while a recording runs backwards."""
        columns, speed = self._rewind.snapshot.columns, self._session.speed
        if passes := self._reverse.passes_due(columns, monotonic(), speed):
            wanted = max(1, (self._rewind.at or self._rewind.newest) - passes)
            if wanted == 1:
                self._reverse.stop()
            if not self._rewind.go(wanted):
                self._seek_pass(wanted)

    def action_home(self) -> None:
        self._reverse.stop()
        if self._seek_pass(1):
            return
        self._rewind.go(self._rewind.oldest)
        self.notify(self._rewind.limit(is_back=True), timeout=3)
        self.draw_all()

    def action_end(self) -> None:
        self._reverse.stop()
        self._rewind.go(self._rewind.newest)
        self.draw_all()

    def action_follow(self) -> None:
        self._reverse.stop()
        self._rewind.follow()
        self.draw_all()

    def action_abort(self) -> None:
        if self._view.selected is None:
            self.notify("Select a request with ↑ and ↓ first; X aborts them all", timeout=3)
            return
        chosen, self._view.selected = self._view.selected, None
        view = self._rewind.request(chosen)
        if view is None or view.reason is not None:
            self.notify(f"{chosen} has ended already", timeout=2, markup=False)
            return
        self._session.backend.abort(chosen)
        self.notify(f"{chosen} aborted", timeout=2, markup=False)

    def action_abort_all(self) -> None:
        self._session.backend.abort_all()
        self.notify("Every request aborted", timeout=2)

    def action_screenshot(self) -> None:
        save_picture(self)

    def action_report(self) -> None:
        self._reports.open(self.newest)

    def action_help(self) -> None:
        active = {each.binding.action for each in self.active_bindings.values()}
        shown = (each for each in self.BINDINGS if isinstance(each, Binding))
        self.app.push_screen(HelpScreen(each for each in shown if each.action in active))
