"""`Playground`: the Textual application around one engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.filter import ANSIToTruecolor, LineFilter, Monochrome, NoColor
from textual.pilot import Pilot
from textual.screen import Screen

from engine.assembly import build_core
from engine.backends.local import LocalBackend
from engine.generate.demo import DemoMix
from engine.loading import Loading
from engine.recording import RecordingError
from engine.settings import BatcherName, EngineSettings
from tuiapp.ascii import AsciiFilter
from tuiapp.driver import USUAL, TerminalDriver
from tuiapp.keys import show_key, spell_keys
from tuiapp.library.library import Library, runs_folder
from tuiapp.options import ScreenOptions
from tuiapp.plain import PlainFilter
from tuiapp.preferences import NOTHING, Found
from tuiapp.presets import Preset, find_preset
from tuiapp.running.tap import Tap
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.live_keys import SHOWN_TOGETHER, keys_of
from tuiapp.screens.moments import MomentsScreen
from tuiapp.screens.playback import PlaybackScreen
from tuiapp.screens.runs import RunsScreen
from tuiapp.session import OPEN_BATCHES, Session
from tuiapp.suspending import Suspension
from tuiapp.text import one_line
from tuiapp.theme import DARK_INKS, PREFIX, THEMES
from tuiapp.view.rewind import Rewind
from tuiapp.view.viewmodel import ViewModel

RECORD_SECONDS = 0.25
REPLACED = (ANSIToTruecolor, Monochrome, NoColor)  # filters of Textual
SWITCH_INTERVAL = 0.0005  # seconds; launching a model is many short calls, and the screen waits
AGAIN_SECONDS = 5.0  # within which a second ctrl+c quits
DEMO_RATE = 3.0  # requests a second: a static batch fills within three seconds


class Playground(App[int]):
    """One engine, the live screen, and what opens over it.

    Args:
        session: the engine and what the user asked of it.
        on_ready: called once when the engine takes requests, to start the traffic.
        own: the looks and keys, and what is wrong with the file that says so.
        tap: records the run.
        library: keeps the runs that are over; None keeps nothing.
    """

    TITLE = "batchscope"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_held", "Suspend", show=False, priority=True),
    ]
    CSS_PATH = Path(__file__).parent / "screens" / "live.tcss"

    def __init__(
        self,
        session: Session,
        on_ready: Callable[[Session], None] = lambda session: None,
        *,
        own: Found = NOTHING,
        tap: Tap | None = None,
        library: Library | None = None,
    ) -> None:
        super().__init__()
        self.session = session
        self._tap = tap
        self._library = library
        self._own = own
        self.ascii_only = own.preferences.ascii
        self._keys = keys_of(own.preferences)
        self._ascii = AsciiFilter()
        self._plain = {is_dark: PlainFilter(is_dark=is_dark) for is_dark in (False, True)}
        self.rewind = Rewind(session.backend.log, ViewModel(session.backend.log))
        self._on_ready = on_ready
        self._suspension = Suspension()
        self._is_leaving = False  # ctrl+c was pressed once
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = f"{PREFIX}{own.preferences.theme}"
        self.set_keymap(dict(own.preferences.keys))

    def on_mount(self) -> None:
        for problem in self._own.problems:
            self.notify(one_line(str(problem)), severity="warning", timeout=12, markup=False)
        if self._tap:
            self.set_interval(RECORD_SECONDS, self._record)
        self.app_resume_signal.subscribe(self, self._go_on)

    async def action_suspend_held(self) -> None:
        """Give the terminal back for a while; nothing that is shown goes on without being seen."""
        if self._driver and self._driver.can_suspend:
            shown = [each.session for each in self.screen_stack if isinstance(each, MomentsScreen)]
            await self._suspension.hold(shown)
        self.action_suspend_process()

    def _go_on(self, app: App[object]) -> None:
        self._suspension.release()
        app.refresh(layout=True)

    def action_help_quit(self) -> None:
        """Quit at the second ctrl+c; the first may have been meant for a text that is selected."""
        if self._is_leaving:
            self._leave()
            return
        self._is_leaving = True
        self.set_timer(AGAIN_SECONDS, self._stay)
        told = f"Press {self._keys['quit']} or ctrl+c again to quit"
        self.notify(told, timeout=AGAIN_SECONDS, markup=False)

    async def action_quit(self) -> None:
        """Leave, from wherever one is."""
        self._leave()

    def _leave(self) -> None:
        """Leave; where the model still loads, say what has to end first."""
        session = self.session
        if session.replay or session.prompts:
            self.exit()
            return
        session.loading.cancel()
        self.exit(message=f"Stopping once this is done: {session.loading.step}")

    def _stay(self) -> None:
        self._is_leaving = False

    def _record(self) -> None:
        """Write down what is new, until the file cannot be written any more."""
        if not self._tap:
            return
        try:
            self._tap.drain()
        except RecordingError as error:
            self._tap = None
            self.notify(f"Not recorded from here on: {error}", severity="error", markup=False)

    def get_driver_class(self) -> type[Driver]:
        """Textual's choice; in a terminal, one that leaves it clean."""
        chosen = super().get_driver_class()
        return TerminalDriver if chosen is USUAL else chosen

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return DARK_INKS

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Those of Textual but for ANSI colours, which nothing here uses, and our own two."""
        filters = [f for f in super().get_line_filters() if not isinstance(f, REPLACED)]
        if self.no_color:
            filters.append(self._plain[self.current_theme.dark])
        return [*filters, self._ascii] if self.ascii_only else filters

    def get_key_display(self, binding: Binding) -> str:
        """In words where there is ASCII alone; those of the batchers together."""
        together = SHOWN_TOGETHER.get(binding.id or "", ())
        shown = "/".join(self._keys[name] for name in together)
        shown = shown or super().get_key_display(binding)
        return spell_keys(shown) if self.ascii_only else shown

    def get_default_screen(self) -> Screen[None]:
        screen = PlaybackScreen if self.session.replay else LiveScreen
        return screen(
            self.session,
            self.rewind,
            self._on_ready,
            preferences=self._own.preferences,
            library=self._library,
        )

    def action_runs(self) -> None:
        """Show the runs that were kept."""
        if self._library is None:
            self.notify("No runs are kept here", timeout=2)
        else:
            self.push_screen(RunsScreen(self._library, self.session, self._own.preferences))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """All that has a key here, our themes, and what Textual has beside its own of these."""
        actions: dict[str, Binding] = {}
        for active in screen.active_bindings.values():
            if active.enabled and isinstance(active.node, Screen):
                actions.setdefault(active.binding.action, active.binding)  # its first key
        for action, binding in actions.items():
            title = binding.tooltip or binding.description
            key = show_key(binding.key, is_ascii=self.ascii_only)
            yield SystemCommand(title, f"key {key}", partial(screen.run_action, action))
        for theme in THEMES:
            name = theme.name.removeprefix(PREFIX)
            yield SystemCommand(f"Theme: {name}", "until you leave", partial(self._use, theme.name))
        given = super().get_system_commands(screen)
        yield from (each for each in given if each.title not in ("Screenshot", "Theme"))

    def _use(self, theme: str) -> None:
        self.theme = theme


def open_playground(
    options: ScreenOptions,
    guide: Callable[[Pilot[object]], Coroutine[Any, Any, None]] | None = None,
) -> int:
    """Build an engine and show it until the user leaves.

    Args:
        guide: presses keys while the user looks on.

    Returns:
        The exit code: 0, 1 if the engine could not be built, 2 if what was asked for is not there.

    Raises:
        ConfigError: there is no such preset, its settings cannot be, or no recording be written.
    """
    preset = find_preset(options.preset) if options.preset else None
    settings = _first_settings(options, preset)
    loading = Loading()
    backend = LocalBackend(partial(build_core, options.spec, settings, report=loading.report))
    session = Session(
        backend,
        settings,
        base=options.settings,
        seed=options.seed,
        spec=options.spec,
        loading=loading,
    )
    begin = partial(_begin_traffic, preset=preset, is_idle=options.idle, seed=options.seed)
    tap = Tap(backend.log, options.record, _about(options)) if options.record else None
    library = Library(runs_folder())
    app = Playground(session, begin, own=options.own, tap=tap, library=library)
    sys.setswitchinterval(SWITCH_INTERVAL)
    backend.start()
    try:
        app.run(auto_pilot=guide)
    finally:
        backend.stop()
        if tap:
            tap.close()
    return app.return_code or 0


def _about(options: ScreenOptions) -> dict[str, object]:
    """What a recording says of a session."""
    spec = options.spec
    told = {"model": spec.model, "device": spec.device, "dtype": spec.dtype}
    return {"preset": options.preset, "seed": options.seed, **told, "load_format": spec.load_format}


def _first_settings(options: ScreenOptions, preset: Preset | None) -> EngineSettings:
    """What the user named, then what the preset says; or else static, whose waste is plain."""
    if preset:
        return options.overrides.apply(preset.settings(base=options.settings))
    if "batcher" in options.overrides.values:
        return options.settings
    return replace(options.settings, batcher=BatcherName.STATIC)


def _begin_traffic(session: Session, preset: Preset | None, *, is_idle: bool, seed: int) -> None:
    """What arrives first: the preset, nothing, or a gentle mix without end."""
    if preset:
        session.play_requests_of(preset)
    elif not is_idle and session.prompts:
        mix = DemoMix(session.prompts, DEMO_RATE, seed, OPEN_BATCHES * session.settings.num_slots)
        session.play("gentle mix", mix)
