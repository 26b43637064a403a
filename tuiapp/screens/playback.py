"""The live screen on a recording, whose footer names the keys that go through time."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType

from tuiapp.screens.live import LiveScreen

FOOTER = ("pause", "rewind", "step", "faster", "reverse", "inspect", "report", "help", "quit")
WORDS = {  # of the keys that mean another thing here than before an engine
    "faster": ("Speed", "Play faster"),
    "slower": ("Slower", "Play slower"),
    "step": ("Step", "Pause and play one pass"),
    "step-10": ("Step 10", "Pause and play ten passes"),
    "pause": ("Pause", "Hold the playback"),
    "follow": ("Follow", "Show the playback as it goes on"),
}


def _here(binding: Binding) -> Binding:
    """A key of the live screen, as it is told of before a recording."""
    name = binding.id or ""
    description, tooltip = WORDS.get(name, (binding.description, binding.tooltip))
    return replace(binding, show=name in FOOTER, description=description, tooltip=tooltip)


def _place(binding: Binding) -> int:
    """In the footer; behind it, where the others stay in their order."""
    return FOOTER.index(binding.id) if binding.id in FOOTER else len(FOOTER)


class PlaybackScreen(LiveScreen):
    """What can be done to an engine is not offered: all that is left is to look."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *sorted(
            (_here(each) for each in LiveScreen.BINDINGS if isinstance(each, Binding)), key=_place
        )
    ]
