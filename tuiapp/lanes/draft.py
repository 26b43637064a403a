"""`Drafts`: the lanes of a comparison while somebody chooses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from engine.settings import EngineSettings
from tuiapp.knobs import System, show_value
from tuiapp.lanes.comparison import FEWEST, MOST

MOST_DRAFTS = 9  # a list that nobody has to scroll
MOST_NAMED = 2  # changes that a name spells out


class Draft:
    """One lane: the settings that it began with, and those that it has now.

    Attributes:
        is_shown: it will be among those side by side.
    """

    def __init__(self, origin: str, settings: EngineSettings, *, is_shown: bool) -> None:
        self._origin = origin
        self._before = settings
        self._system: System | None = None
        self.settings = settings
        self.is_shown = is_shown

    @property
    def name(self) -> str:
        """What it began as, and what was changed in it."""
        if self.settings == self._before:
            return self._origin
        changed = [each.name for each in fields(EngineSettings) if self._is_changed(each.name)]
        if self._system and self._system.matches(self.settings):
            word, implied = self._system.name, set(self._system.settings)
        else:
            is_other = "batcher" in changed
            word, implied = self.settings.batcher.value if is_other else self._origin, {"batcher"}
        knobs = [name for name in changed if name not in implied]
        told = [f"{name} {show_value(getattr(self.settings, name))}" for name in knobs]
        if len(told) > MOST_NAMED:
            told = [*told[:1], f"{len(told) - 1} more"]
        return ", ".join([word, *told])

    def configure(self, settings: EngineSettings) -> None:
        """Run under these settings."""
        self.settings = settings

    def act_as(self, system: System) -> None:
        """Schedule as a named system would.

        Raises:
            ConfigError: the rest of the settings does not go with it.
        """
        self.settings = system.apply(self.settings)
        self._system = system

    def copy(self) -> Draft:
        """Another lane that begins as this one is now."""
        return Draft(self.name, self.settings, is_shown=False)

    def _is_changed(self, name: str) -> bool:
        return bool(getattr(self.settings, name) != getattr(self._before, name))


class Drafts:
    """All of them, in their order.

    Args:
        entries: the lanes that there are, by name.
        shown: names of those side by side.
    """

    def __init__(self, entries: Mapping[str, EngineSettings], shown: Sequence[str]) -> None:
        self.items = [Draft(name, each, is_shown=name in shown) for name, each in entries.items()]

    def add(self, index: int) -> str:
        """Put a copy of a lane behind it; return why that cannot be, or nothing."""
        if len(self.items) >= MOST_DRAFTS:
            return f"There is room for {MOST_DRAFTS} lanes to choose from"
        twin = self.items[index].copy()
        twin.is_shown = self._num_shown < MOST
        self.items.insert(index + 1, twin)
        return ""

    def remove(self, index: int) -> str:
        """Leave a lane out; return why that cannot be, or nothing."""
        if len(self.items) <= FEWEST:
            return "A comparison needs two lanes"
        del self.items[index]
        return ""

    def toggle(self, index: int) -> None:
        """Show a lane side by side with others, or hide it."""
        self.items[index].is_shown = not self.items[index].is_shown

    def names(self) -> list[str]:
        """What each is called; of those of one name the later ones are numbered."""
        found: list[str] = []
        for item in self.items:
            name, number = item.name, 2
            while name in found:
                name, number = f"{item.name} ({number})", number + 1
            found.append(name)
        return found

    def entries(self) -> dict[str, EngineSettings]:
        """Settings by name."""
        return {name: item.settings for name, item in zip(self.names(), self.items, strict=True)}

    def shown(self) -> list[str]:
        """Names of those that will be side by side."""
        pairs = zip(self.names(), self.items, strict=True)
        return [name for name, item in pairs if item.is_shown]

    def problem(self) -> str:
        """Why these cannot be compared, or nothing."""
        if FEWEST <= self._num_shown <= MOST:
            return ""
        return f"{self._num_shown} lanes are marked to be shown; choose {FEWEST} to {MOST} (space)"

    @property
    def _num_shown(self) -> int:
        return sum(item.is_shown for item in self.items)
