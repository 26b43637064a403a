"""`RunReports`: opens the report of what plays, by itself when a preset is over."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.screen import Screen

from engine.config import ConfigError
from engine.events import EngineInfo
from tuiapp.keys import Keys
from tuiapp.library.library import Library
from tuiapp.library.opening import Opened, open_live, open_recorded
from tuiapp.screens.lesson import LessonScreen
from tuiapp.screens.report import Again, ReportScreen
from tuiapp.session import Session
from tuiapp.text import one_line
from tuiapp.view.snapshot import Snapshot


class RunReports:
    """One for a live screen.

    Args:
        library: keeps the runs that are over; None keeps nothing.
        go: shows a pass, counted from 1, on the live screen.
        keys: to name the one that opens it.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        library: Library | None,
        go: Callable[[int | None], None],
        keys: Keys,
    ) -> None:
        self._screen = screen
        self._session = session
        self._library = library
        self._go = go
        self._keys = keys
        self._num_played = 0
        self._told: set[int] = set()  # where in the log the runs began that were told of
        self._last: tuple[int, Opened] | None = None

    def poll(self, snapshot: Snapshot) -> None:
        """Open the report of a preset that has just come to its end, if nothing is in the way."""
        is_news = snapshot.num_played > self._num_played
        self._num_played = snapshot.num_played
        playing, info = self._session.playing, snapshot.info
        if not is_news or playing is None or playing.position in self._told or info is None:
            return
        if not self._session.is_over:
            return  # it was what played before that has ended
        self._told.add(playing.position)
        top = self._screen.app.screen
        if top is self._screen:
            self.open(snapshot)
        elif not (isinstance(top, LessonScreen) and top.has_begun):
            self._screen.run_worker(partial(self._keep, info), thread=True)
            report = self._keys["report"]
            told = f"{playing.preset.name} is over: {report} on the live screen shows its report"
            self._screen.notify(told, markup=False)

    def open(self, snapshot: Snapshot) -> None:
        """Open the report of what plays."""
        if snapshot.info is None:
            return
        report = ReportScreen(
            partial(self._load, snapshot.info),
            tokenizer=self._session.backend.tokenizer,
            ascii_only=bool(getattr(self._screen.app, "ascii_only", False)),
            can_run=self._session.replay is None,
        )
        self._screen.app.push_screen(report, self._follow)

    def _keep(self, info: EngineInfo) -> None:
        """Keep what is over, in a thread of its own; say so if that cannot be done."""
        try:
            complaint = self._load(info).complaint
        except ConfigError as error:
            complaint = str(error)
        if complaint:
            told = f"the run was not kept: {one_line(complaint)}"
            self._screen.notify(told, severity="error", markup=False)

    def _load(self, info: EngineInfo) -> Opened:
        """Measure what plays; one that is over only once, since it is kept then."""
        if self._session.recording:
            return open_recorded(self._session.recording, self._library)
        playing = self._session.playing
        if self._last and playing and self._last[0] == playing.position:
            return self._last[1]
        opened = open_live(self._session, info, self._library)
        if playing and opened.is_over:
            self._last = (playing.position, opened)
        return opened

    def _follow(self, wish: int | Again | None) -> None:
        """Do what the report was left for."""
        if not isinstance(wish, Again):
            self._go(wish)
            return
        try:
            self._session.play_preset(wish.preset, wish.variant)
        except ConfigError as error:
            self._screen.notify(str(error), severity="error", markup=False)
