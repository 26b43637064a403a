"""`Preferences`: the schema of the config file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FASTEST, SLOWEST = 30, 1
MOST_PANES = 8


@dataclass(frozen=True, slots=True)
class Preferences:
    """What flags of the command line win over.

    Attributes:
        ascii: draw with ASCII alone.
        fps: frames a second of the live screen; each takes its time from the engine.
        panes: token panes at most.
        model, device: to begin with; empty leaves it to the preset, or to batchscope.
        preset: to begin with; empty for the gentle mix.
        keys: the keys of actions, as `b` or `b,f5`, by the name of the action.
    """

    theme: Literal["dark", "light", "high-contrast"] = "dark"
    ascii: bool = False
    fps: int = 10
    panes: int = MOST_PANES
    model: str = ""
    device: str = ""
    preset: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not SLOWEST <= self.fps <= FASTEST:
            raise ValueError(f"fps must be from {SLOWEST} to {FASTEST}, got {self.fps}")
        if not 1 <= self.panes <= MOST_PANES:
            raise ValueError(f"panes must be from 1 to {MOST_PANES}, got {self.panes}")


USUAL = Preferences()
