"""Presets: one story a file, a workload with the engine settings to compare it under."""

from __future__ import annotations

from tuiapp.presets.files import Shelf, find_preset, list_presets, read_preset
from tuiapp.presets.preset import Preset
from tuiapp.presets.schema import About, Claim, Variant

__all__ = [
    "About",
    "Claim",
    "Preset",
    "Shelf",
    "Variant",
    "find_preset",
    "list_presets",
    "read_preset",
]
