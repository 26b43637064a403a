"""`shoot`: one picture of one moment, the same whenever it is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.config import ConfigError, suggest
from tuiapp.app import Playground
from tuiapp.preferences import Found, Preferences
from tuiapp.session import Session
from tuiapp.shot.cells import screen_svg, screen_text
from tuiapp.shot.frame import Form, Moment
from tuiapp.shot.stage import Stage, set_stage
from tuiapp.shot.stepped import SteppedBackend
from tuiapp.theme import PREFIX

TITLE = "batchscope"


@dataclass(frozen=True, slots=True)
class Shot:
    """What to take.

    Attributes:
        keys: pressed at the moment, to open a screen.
        size: columns and lines.
        theme: `dark`, `light` and so on; empty for the usual one.
    """

    moment: Moment
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 36)
    theme: str = ""
    ascii_only: bool = False
    form: Form = Form.SVG


async def shoot(shot: Shot, session: Session) -> str:
    """Let a session come to the moment, and draw it.

    Args:
        session: on a backend that runs when it is told to, or on one that stands still.

    Raises:
        ConfigError: what is asked of the screen cannot be.
    """
    app = Playground(session, own=Found(Preferences(ascii=shot.ascii_only)))
    app.theme = _find_theme(app, shot.theme) if shot.theme else app.theme
    async with set_stage(app, shot.size) as stage:
        if isinstance(session.backend, SteppedBackend):
            run_to(session.backend, shot.moment)
            await stage.settle()
        await stage.go_home()
        if shot.keys:
            await press(stage, session, shot.keys)
        return screen_text(app) + "\n" if shot.form is Form.TEXT else screen_svg(app, TITLE)


async def press(stage: Stage, session: Session, keys: Sequence[str]) -> None:
    """Press keys; what a comparison runs comes to its end before the next one."""
    for key in keys:
        await stage.press(key)
        while isinstance(session.backend, SteppedBackend) and session.backend.visit:
            session.backend.run(1000)
            await stage.settle()


def run_to(backend: SteppedBackend, moment: Moment) -> None:
    """Run an engine until a moment, or until nothing more can happen."""
    if moment.num_passes is not None:
        backend.run(moment.num_passes)
    if moment.time is not None:
        backend.run_until(moment.time)


def _find_theme(app: Playground, name: str) -> str:
    """The whole name of a theme of this project.

    Raises:
        ConfigError: there is none of that name.
    """
    own = {each.removeprefix(PREFIX): each for each in app.available_themes if PREFIX in each}
    if name.removeprefix(PREFIX) not in own:
        raise ConfigError(f"no theme is called {name!r}; {suggest(name, own)}", place="--theme")
    return own[name.removeprefix(PREFIX)]
