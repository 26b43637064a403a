"""`name_device`: what to call the device of an engine in a sentence."""

from __future__ import annotations

from engine.events import EngineInfo
from tuiapp.text import one_line

NAMELESS = "simulated"  # what the linear model, which stands for no device, calls it


def name_device(info: EngineInfo) -> str:
    """Its name, and whether it is simulated."""
    if info.device == NAMELESS:
        return "a simulated device"
    return f"{one_line(info.device)}{', simulated' if info.is_simulated else ''}"
