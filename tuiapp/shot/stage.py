"""`Stage`: the app without a terminal, for pictures and for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from textual.pilot import Pilot
from textual.widget import Widget
from textual.worker import WorkerFailed

from tuiapp.app import Playground
from tuiapp.screens.compare import CompareScreen
from tuiapp.screens.live import LiveScreen

MOST_LAYOUTS = 20  # that a screen may take to come to rest


class Stage:
    """An app that runs headless, with the pilot that presses its keys."""

    def __init__(self, app: Playground, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def live(self) -> LiveScreen:
        """The screen that all others open over."""
        screen = self.app.screen_stack[0]
        assert isinstance(screen, LiveScreen)
        return screen

    async def settle(self) -> None:
        """Draw what has happened, and let the layout come to rest."""
        await self._finish_work()
        for _ in range(3):
            await self.pilot.pause()
            self.live.draw_all()
            if isinstance(self.app.screen, CompareScreen):
                self.app.screen.draw_all()
        await self._rest()

    async def _rest(self) -> None:
        """Wait until no part moves, shows a scrollbar or hides one any more."""
        before = None
        for _ in range(MOST_LAYOUTS):
            await self.pilot.pause()
            widgets = self.app.screen.walk_children(Widget)
            now = [(each.region, each.virtual_size, each.scrollbars_enabled) for each in widgets]
            if now == before:
                return
            before = now

    async def press(self, *keys: str) -> None:
        """Press keys, and draw what comes of it."""
        for key in keys:
            await self.pilot.press(key)
            await self._finish_work()
        await self.settle()

    async def go_home(self) -> None:
        """Leave what has opened by itself, such as the report of a run that is over."""
        while self.app.screen is not self.live:
            await self.press("escape")

    async def _finish_work(self) -> None:
        """Wait for what screens do in threads; the screen itself says what went wrong there."""
        with suppress(WorkerFailed):
            await self.app.workers.wait_for_complete()
        await self.pilot.pause()


@asynccontextmanager
async def set_stage(
    app: Playground, size: tuple[int, int], *, has_toasts: bool = False
) -> AsyncIterator[Stage]:
    """Run an app headless, in a terminal of so many columns and lines."""
    app.animation_level = "none"
    async with app.run_test(size=size, notifications=has_toasts) as pilot:
        stage = Stage(app, pilot)
        await stage.settle()
        yield stage
