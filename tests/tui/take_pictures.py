"""Take the pictures of the README: `python tests/tui/take_pictures.py`.

The app itself draws them, on the shipped model and this machine's clock, so the numbers in them
are those of the machine that took them.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from engine.assembly import ModelSpec, build_core
from engine.backends.local import LocalBackend
from engine.events import Work
from engine.generate.demo import DemoMix
from engine.settings import BatcherName, EngineSettings
from tuiapp.app import DEMO_RATE, Playground
from tuiapp.session import Session
from tuiapp.snapshot import Snapshot

FOLDER = Path(__file__).parent / "pictures"
SIZE = (120, 36)


async def take() -> None:
    """Static batching in the middle of a batch, then continuous over the same traffic."""
    settings = EngineSettings(batcher=BatcherName.STATIC)
    backend = LocalBackend(partial(build_core, ModelSpec(), settings))

    def begin(session: Session) -> None:
        session.play("gentle mix", DemoMix(session.prompts, DEMO_RATE, seed=1))

    app = Playground(Session(backend, settings), begin)
    backend.start()
    async with app.run_test(size=SIZE) as pilot:
        live = app.screen
        while live.snapshot.num_passes < 300 or not 4 <= num_held(live.snapshot) <= 6:
            await asyncio.sleep(0.02)
        await save(app, pilot, "live-static")
        await pilot.press("3")
        await asyncio.sleep(4)
        while live.snapshot.meters.num_busy < 6:
            await asyncio.sleep(0.05)
        await save(app, pilot, "live-continuous")
    backend.stop()


def num_held(snapshot: Snapshot) -> int:
    """Slots that are held with no work."""
    return sum(view is not None and view.work is Work.HELD for view in snapshot.slots)


async def save(app: Playground, pilot, name: str) -> None:
    """Hold the engine for a moment, so that every part shows the same one."""
    app.session.backend.pause()
    await pilot.pause(0.2)
    app.screen.draw_all()
    await pilot.pause()
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.svg"
    path.write_text(app.export_screenshot(title="batchscope", simplify=True), "utf-8")
    app.session.backend.resume()


if __name__ == "__main__":
    asyncio.run(take())
