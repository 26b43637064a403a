"""The live screen: what the engine does now, drawn ten times a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from engine.config import ConfigError
from engine.settings import BatcherName
from tuiapp.attacks import Attacks
from tuiapp.knobs import next_system, read_systems
from tuiapp.lanes import Contest, contest_of_preset
from tuiapp.lanes.choose import choose_contest
from tuiapp.library.library import Library
from tuiapp.preferences import USUAL, Preferences
from tuiapp.presets import list_presets
from tuiapp.screens.attack import AttackScreen
from tuiapp.screens.choosing import ChoosingScreen
from tuiapp.screens.comparing import open_comparison
from tuiapp.screens.early import EarlyOrders
from tuiapp.screens.help import HelpScreen
from tuiapp.screens.inject import InjectScreen
from tuiapp.screens.jump import JumpScreen
from tuiapp.screens.knobs import KnobsScreen
from tuiapp.screens.lessons import LessonsScreen
from tuiapp.screens.live_keys import (
    BINDINGS,
    LIVE_ACTIONS,
    REPLAY_ACTIONS,
    keys_of,
)
from tuiapp.screens.news import News
from tuiapp.screens.picker import Choice, PickerScreen
from tuiapp.screens.picture import save_picture
from tuiapp.screens.profile import ProfileScreen
from tuiapp.screens.run_reports import RunReports
from tuiapp.screens.utilisation import UtilisationScreen
from tuiapp.session import Session
from tuiapp.view.rewind import Rewind, open_log
from tuiapp.view.story import Story
from tuiapp.widgets.filter_bar import FilterBar
from tuiapp.widgets.key_bar import KeyBar
from tuiapp.widgets.live_view import LiveView
from tuiapp.widgets.too_small import TooSmall


class LiveScreen(ChoosingScreen):
    """Polls the view model and hands each widget the snapshot.

    Args:
        on_ready: called once when the engine takes requests.
    """

    BINDINGS: ClassVar[list[BindingType]] = BINDINGS
    AUTO_FOCUS = ""

    def __init__(
        self,
        session: Session,
        rewind: Rewind,
        on_ready: Callable[[Session], None] = lambda session: None,
        *,
        preferences: Preferences = USUAL,
        library: Library | None = None,
    ) -> None:
        keys = keys_of(preferences)
        super().__init__(session, rewind, LiveView(session, preferences, keys), keys)
        self._fps = preferences.fps
        self._news = News(self, session, keys)
        self._early = EarlyOrders(self, session, on_ready)
        self._systems = read_systems()
        self._attacks = Attacks(session)
        self._knob = ""  # that was looked at last
        self._reports = RunReports(self, session, library, self._go_to, keys)
        self.newest = self.snapshot

    def compose(self) -> ComposeResult:
        yield self._view
        yield FilterBar()
        yield KeyBar()
        yield TooSmall()

    def on_mount(self) -> None:
        self.set_interval(1 / self._fps, self.draw)
        self.draw_all()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.draw_all)

    def draw(self, *, everything: bool = False) -> None:
        """Show what happened since the last frame.

        Args:
            everything: draw all parts now, for a key press, a picture or a test.
        """
        is_another = self._read()
        at, self.snapshot = self._rewind.at, self._rewind.snapshot
        self._view.moment = (at, self._rewind.newest) if at else None
        if self._fits():
            self._view.draw(self.snapshot, everything=everything or is_another)
            self._count_matches()

    def _read(self) -> bool:
        """Read what is new and act upon it; return whether it is another run, all of it new."""
        now, log = self._session.backend.now(), self._session.backend.log
        is_another = log is not self._rewind.log
        if is_another:
            self._rewind = open_log(log)
            self._news.skip(self._rewind.poll(now))  # told when they were new
        before, self.newest = self.newest, self._rewind.poll(now)
        if self.newest.info and self.newest.settings is not before.settings:
            self._session.settings = self.newest.settings  # whoever changed them
        if self.newest.info is not before.info:
            self.refresh_bindings()  # there is somebody to take orders now
        self._early.poll(self.newest)
        self._news.tell(self.newest)
        self._reports.poll(self.newest)
        self._go_back()
        return is_another

    def draw_all(self) -> None:
        """Show everything at once."""
        self.draw(everything=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A recording takes no orders, and an engine cannot be sent to another moment.

        While a model loads there is nobody to take them: they are kept, see `on_key`.
        """
        if action == "clear_filter":
            return bool(self._view.filter.text) or None
        if self._early.is_early(action):
            return None
        return action not in (LIVE_ACTIONS if self._session.replay else REPLAY_ACTIONS)

    def on_key(self, event: events.Key) -> None:
        self._early.keep(event)

    def _fits(self) -> bool:
        """Whether the terminal is large enough; if not, one line says so and the engine goes on."""
        is_large = self.query_one(TooSmall).tell(self.size)
        self.set_class(not is_large, "-too-small")
        return is_large

    def action_batcher(self, name: str) -> None:
        if self._session.set_batcher(BatcherName(name)):
            self.draw_all()
        else:
            self.notify(f"The batcher is {name} already", timeout=2)

    def action_inject(self) -> None:
        if self._session.prompts is not None:
            self.app.push_screen(InjectScreen(self._session, self._keys, lambda: self.newest))

    def action_burst(self) -> None:
        if count := self._session.injector.burst():
            self.notify(f"{count} requests of varied length", timeout=2)

    def action_workload(self) -> None:
        if self._session.prompts is not None:
            self.app.push_screen(PickerScreen(self._session, list_presets), self._play)

    def _play(self, choice: Choice | None) -> None:
        if choice is None:
            return
        if choice.is_to_compare:
            self._compare(partial(contest_of_preset, choice.preset, self._session.base))
            return
        try:
            self._session.play_preset(choice.preset)
        except ConfigError as error:
            self.notify(str(error), severity="error", markup=False)
        self.draw_all()

    def action_compare(self) -> None:
        """Run what plays here, or has arrived here, through several engines."""
        if self._session.prompts is not None:
            self._compare(partial(choose_contest, self._session))

    def _compare(self, choose: Callable[[], Contest | None]) -> None:
        open_comparison(self, self._session, self._keys, choose)

    def action_knobs(self) -> None:
        if self.snapshot.info:
            screen = KnobsScreen(self._session, self._keys, self._knob)
            self.app.push_screen(screen, self._remember_knob)

    def _remember_knob(self, name: str | None) -> None:
        self._knob = name or self._knob

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
            screen = UtilisationScreen(self._rewind, self._session, self.snapshot.info, self._keys)
            self.app.push_screen(screen)

    def action_profile(self) -> None:
        if self.snapshot.info:
            self.app.push_screen(ProfileScreen(self._rewind, self.snapshot.info))

    def action_lessons(self) -> None:
        if self._session.prompts is not None:
            self.app.push_screen(LessonsScreen(self._session, lambda: self.newest))

    def action_flush(self) -> None:
        self._session.backend.flush()

    def action_speed(self, steps: int) -> None:
        speed = self._session.change_speed(steps)
        what = "Playback" if self._session.replay else "Arrivals"
        self.notify(f"{what} ×{speed:g}", timeout=2)

    def action_abort(self) -> None:
        if self._view.selected is None:
            keys = self._keys
            arrows = f"{keys['select-before']} and {keys['select-next']}"
            told = f"Select a request with {arrows} first; {keys['abort-all']} aborts them all"
            self.notify(told, timeout=3, markup=False)
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
        about = self.focused.HELP if self.focused else None
        bound = self._keys.bound
        bindings = [
            replace(each, key=bound.get(each.id or "", each.key))
            for each in shown
            if each.action in active
        ]
        self.app.push_screen(HelpScreen(bindings, about=about or ""))

    def action_go_to(self) -> None:
        """Go to a panel by its letter."""
        self.app.push_screen(JumpScreen(self._view.panels()), self._focus)

    def _focus(self, panel: Widget | None) -> None:
        if panel:
            self.set_focus(panel)
