"""Which screens can be taken, the keys that open them, and which time they show."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from textual.screen import Screen

from engine.config import ConfigError, suggest
from tuiapp.screens.attack import AttackScreen
from tuiapp.screens.commands import CommandsScreen
from tuiapp.screens.compare import CompareScreen
from tuiapp.screens.help import HelpScreen
from tuiapp.screens.inject import InjectScreen
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.jump import JumpScreen
from tuiapp.screens.knobs import KnobsScreen
from tuiapp.screens.lanes import LanesScreen
from tuiapp.screens.lesson import LessonScreen
from tuiapp.screens.lessons import LessonsScreen
from tuiapp.screens.live import LiveScreen
from tuiapp.screens.picker import PickerScreen
from tuiapp.screens.profile import ProfileScreen
from tuiapp.screens.report import ReportScreen
from tuiapp.screens.runs import RunsScreen
from tuiapp.screens.utilisation import UtilisationScreen

ENGINE = "it needs an engine, and a recording has none: name a preset"
SOMEBODY = "nobody runs or waits at that moment: name another one with --at"


class Shows(Enum):
    """What time a screen shows."""

    RUN = "a moment of the run"
    LANES = "a moment of all lanes of a comparison, which have run to their ends"
    LIBRARY = "the runs that the user has kept; nothing runs"


@dataclass(frozen=True, slots=True)
class View:
    """A screen that can be taken.

    Attributes:
        screen: what is on top once it is open.
        keys: pressed on the live screen to open it.
        needs: what is missing where it does not open.
    """

    screen: type[Screen[Any]]
    keys: tuple[str, ...] = ()
    shows: Shows = Shows.RUN
    needs: str = ENGINE


VIEWS: dict[str, View] = {
    "live": View(LiveScreen),
    "attack": View(AttackScreen, ("a",)),
    "commands": View(CommandsScreen, ("k", "y")),
    "compare": View(CompareScreen, ("c",), Shows.LANES),
    "ghost": View(CompareScreen, ("c", "g"), Shows.LANES),
    "help": View(HelpScreen, ("question_mark",)),
    "inject": View(InjectScreen, ("i",)),
    "inspect": View(InspectScreen, ("down", "enter"), needs=SOMEBODY),
    "jump": View(JumpScreen, ("j",)),
    "knobs": View(KnobsScreen, ("k",)),
    "lanes": View(LanesScreen, ("c", "e"), Shows.LANES),
    "lesson": View(LessonScreen, ("l", "1")),
    "lessons": View(LessonsScreen, ("l",)),
    "picker": View(PickerScreen, ("w",)),
    "profile": View(ProfileScreen, ("p",)),
    "report": View(ReportScreen, ("r",)),
    "runs": View(RunsScreen, ("o",), Shows.LIBRARY),
    "utilisation": View(UtilisationScreen, ("u",)),
}
LIVE = VIEWS["live"]


def find_view(name: str) -> View:
    """The screen of that name.

    Raises:
        ConfigError: there is none; the message names the nearest.
    """
    if name not in VIEWS:
        raise ConfigError(f"no screen is called {name!r}; {suggest(name, VIEWS)}", place="--screen")
    return VIEWS[name]
