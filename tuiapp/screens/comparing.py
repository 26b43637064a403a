"""Go from a screen to the comparison of what plays there, or say why there can be none."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen

from engine.config import ConfigError
from tuiapp.keys import Keys
from tuiapp.lanes import Comparison, Contest
from tuiapp.screens.compare import CompareScreen
from tuiapp.session import Session


def open_comparison(
    screen: Screen[None], session: Session, keys: Keys, choose: Callable[[], Contest | None]
) -> None:
    """Run a contest through several engines, beside that of the session.

    Args:
        choose: draws up the contest; it gives None where nothing has arrived that could be
            compared, and may raise `ConfigError`.
    """
    spec = session.spec
    if spec is None:
        screen.notify("These engines cannot be built beside this one", timeout=3)
        return
    try:
        contest = choose()
    except ConfigError as error:
        screen.notify(str(error), severity="error", markup=False)
        return
    if contest is None:
        told = f"Nothing has arrived that could be compared: {keys['burst']} sends a burst"
        screen.notify(told, timeout=3, markup=False)
        return
    comparison = Comparison(contest, spec, session.backend.lend, cost=session.cost)
    screen.app.push_screen(CompareScreen(session, comparison, keys))
