"""`Guide`: plays a script in the terminal, on the real engine, before somebody's eyes."""

from __future__ import annotations

import asyncio
from time import monotonic

from textual.pilot import Pilot

from tuiapp.app import Playground
from tuiapp.demo.script import Scene, Script
from tuiapp.screens.live import LiveScreen
from tuiapp.shot.cells import screen_text

POLL, KEY = 0.2, 0.4  # seconds between two looks, and behind a key
READING = 4.0  # seconds that a caption stays at least
PATIENCE = 60.0  # seconds that a scene may take to show what it says


class Guide:
    """Presses the keys of a script and tells what they do; then the playground is the viewer's."""

    def __init__(self, script: Script) -> None:
        self._script = script

    async def __call__(self, pilot: Pilot[object]) -> None:
        app = pilot.app
        assert isinstance(app, Playground), "a demo plays on the playground"
        while not self._is_ready(app):
            await asyncio.sleep(POLL)
        for number, scene in enumerate(self._script.scenes, 1):
            await self._show(app, scene, number)
        app.notify("The keys are yours: ? lists them, q leaves", markup=False)

    @staticmethod
    def _is_ready(app: Playground) -> bool:
        live = app.screen_stack[0] if app.screen_stack else None
        return isinstance(live, LiveScreen) and live.newest.info is not None

    async def _show(self, app: Playground, scene: Scene, number: int) -> None:
        """One scene: for its time, and until it shows what it says."""
        for key in scene.keys:
            app.simulate_key(key)
            await asyncio.sleep(KEY)
        title = f"{number} of {len(self._script.scenes)}"
        timeout = max(READING, scene.seconds)
        app.notify(scene.caption, title=title, timeout=timeout, markup=False)
        began = monotonic()
        await asyncio.sleep(scene.seconds)
        while not all(words in screen_text(app) for words in scene.shows):
            if monotonic() - began > PATIENCE:
                return
            await asyncio.sleep(POLL)
