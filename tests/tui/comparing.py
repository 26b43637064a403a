"""What tests of the compare screen share: how to open it, and how to let its lanes run."""

from __future__ import annotations

from tuiapp.presets import find_preset


async def draw(stage):
    for _ in range(3):
        stage.app.screen.draw_all()
        await stage.pilot.pause()


async def press(stage, *keys):
    await stage.pilot.press(*keys)
    await draw(stage)


async def finish(stage):
    """Run every lane to its end."""
    screen = stage.app.screen
    screen.comparison.poll()
    while screen.comparison.is_running:
        stage.backend.run(500)
        screen.comparison.poll()
    await draw(stage)


async def open_preset(stage, preset="straggler"):
    stage.app.session.play_preset(find_preset(preset))
    await stage.press("c")
    return stage.app.screen
