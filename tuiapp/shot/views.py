"""Which screens can be taken, and the keys that open them."""

from __future__ import annotations

from engine.config import ConfigError, suggest

VIEWS: dict[str, tuple[str, ...]] = {
    "live": (),
    "attack": ("a",),
    "commands": ("k", "y"),
    "help": ("question_mark",),
    "inject": ("i",),
    "inspect": ("down", "enter"),
    "knobs": ("k",),
    "lessons": ("l",),
    "picker": ("w",),
    "report": ("r",),
    "utilisation": ("u",),
    "profile": ("p",),
}


def find_view(name: str) -> tuple[str, ...]:
    """The keys that lead from the live screen to that one.

    Raises:
        ConfigError: there is no such screen; the message names the nearest.
    """
    if name not in VIEWS:
        raise ConfigError(f"no screen is called {name!r}; {suggest(name, VIEWS)}", place="--screen")
    return VIEWS[name]
