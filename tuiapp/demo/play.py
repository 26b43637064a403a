"""`play`: a script on an app without a terminal, frame by frame, on a virtual clock."""

from __future__ import annotations

from collections.abc import Callable

from engine.config import ConfigError
from tuiapp.app import Playground
from tuiapp.demo.script import Scene, Script
from tuiapp.screens.compare import CompareScreen
from tuiapp.session import Session
from tuiapp.shot.cells import screen_text
from tuiapp.shot.stage import Stage, set_stage
from tuiapp.shot.stepped import SteppedBackend

Look = Callable[[Playground, Scene, float], None]


async def play(
    script: Script, session: Session, size: tuple[int, int], frames_per_second: float, look: Look
) -> None:
    """Let the scenes happen one after another; the same script gives the same frames.

    Args:
        session: on a backend that runs when it is told to.
        look: called with what is on the screen, at the seconds from the beginning.

    Raises:
        ConfigError: a scene does not show what it says.
    """
    began = 0.0
    async with set_stage(Playground(session), size) as stage:
        for number, scene in enumerate(script.scenes, 1):
            await stage.press(*scene.keys)
            count = max(1, round(scene.seconds * frames_per_second))
            for frame in range(count):
                await _run(
                    stage, scene.passes * (frame + 1) // count - scene.passes * frame // count
                )
                look(stage.app, scene, began + frame / frames_per_second)
            check_scene(scene, screen_text(stage.app), number)
            began += count / frames_per_second


def check_scene(scene: Scene, text: str, number: int) -> None:
    """Hold a scene to what it says that it shows.

    Raises:
        ConfigError: words are missing.
    """
    if missing := [words for words in scene.shows if words not in text]:
        raise ConfigError(f"scene {number} ({scene.caption!r}) does not show {missing[0]!r}")


async def _run(stage: Stage, num_passes: int) -> None:
    """Run the engine as far as is due, unless the script has paused it."""
    if num_passes and not stage.app.session.is_paused:
        backend = stage.app.session.backend
        assert isinstance(backend, SteppedBackend), "a film has an engine in this thread"
        if isinstance(stage.app.screen, CompareScreen):
            _run_guest(backend, num_passes)
        else:
            backend.run(num_passes)
        await stage.settle()


def _run_guest(backend: SteppedBackend, num_steps: int) -> None:
    """Let a comparison go on; the engine itself stands still until it has the turn again."""
    for _ in range(num_steps):
        if backend.visit is None:
            return
        backend.run(1)
