"""Every setting of the engine as a knob, and what other systems call it."""

from __future__ import annotations

from tuiapp.knobs.dialect import Dialect, Term, read_dialects
from tuiapp.knobs.knob import Knob, change, leading, list_knobs, matters, nudge, show_value
from tuiapp.knobs.system import System, next_system, read_systems, system_of

__all__ = [
    "Dialect",
    "Knob",
    "System",
    "Term",
    "change",
    "leading",
    "list_knobs",
    "matters",
    "next_system",
    "nudge",
    "read_dialects",
    "read_systems",
    "show_value",
    "system_of",
]
