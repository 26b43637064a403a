"""`shoot`: one picture of one moment, the same whenever it is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.config import ConfigError, suggest
from tuiapp.app import Playground
from tuiapp.lanes.axis import show_seconds
from tuiapp.library.library import Library, runs_folder
from tuiapp.preferences import Found, Preferences
from tuiapp.screens.compare import CompareScreen
from tuiapp.session import Session
from tuiapp.shot.cells import screen_svg, screen_text
from tuiapp.shot.ending import tell_end
from tuiapp.shot.frame import Form, Moment
from tuiapp.shot.stage import Stage, set_stage
from tuiapp.shot.stepped import SteppedBackend
from tuiapp.shot.views import LIVE, Shows, View
from tuiapp.theme import PREFIX

TITLE = "batchscope"


@dataclass(frozen=True, slots=True)
class Shot:
    """What to take.

    Attributes:
        moment: of the run, or of the lanes of a comparison.
        size: columns and lines.
        theme: `dark`, `light` and so on; empty for the usual one.
    """

    moment: Moment
    view: View = LIVE
    size: tuple[int, int] = (120, 36)
    theme: str = ""
    ascii_only: bool = False
    form: Form = Form.SVG


@dataclass(frozen=True, slots=True)
class Taken:
    """A picture.

    Attributes:
        text: as SVG, or the text of the screen.
        note: that all was over before the moment; empty where it was not.
    """

    text: str
    note: str = ""


async def shoot(shot: Shot, session: Session) -> Taken:
    """Let a session come to the moment, and draw it.

    Args:
        session: on a backend that runs when it is told to, or on one that stands still.

    Raises:
        ConfigError: what is asked of the screen cannot be.
        RecordingError: a recording cannot be read any more.
    """
    library = Library(runs_folder()) if shot.view.shows is Shows.LIBRARY else None
    app = Playground(session, own=Found(Preferences(ascii=shot.ascii_only)), library=library)
    app.theme = _find_theme(app, shot.theme) if shot.theme else app.theme
    async with set_stage(app, shot.size) as stage:
        note = await _open(stage, session, shot)
        text = screen_text(app) + "\n" if shot.form is Form.TEXT else screen_svg(app, TITLE)
        return Taken(text, note)


async def _open(stage: Stage, session: Session, shot: Shot) -> str:
    """Come to the moment and the screen; return that all was over before, if it was."""
    view, note = shot.view, ""
    if view.shows is Shows.RUN:
        if isinstance(session.backend, SteppedBackend):
            run_to(session.backend, shot.moment)
            await stage.settle()
        note = tell_end(session, shot.moment)
    await stage.go_home()
    await _press(stage, session, view.keys)
    top = stage.app.screen
    if not isinstance(top, view.screen):
        raise ConfigError(f"this screen does not open here; {view.needs}", place="--screen")
    if isinstance(top, CompareScreen) and shot.moment.time is not None:
        note = _look_at(top, shot.moment.time)
    return note


def _look_at(screen: CompareScreen, time: float) -> str:
    """Show a moment of all lanes, or their ends where all of them are over by then."""
    span = screen.comparison.span
    if time <= span:
        screen.look_at(time)
        return ""
    kind = "simulated " * screen.comparison.is_simulated
    return f"the last lane ends at {kind}{show_seconds(span)}; these are their ends"


async def _press(stage: Stage, session: Session, keys: Sequence[str]) -> None:
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
