"""`UseRow`: one measure of the panel of use."""

from __future__ import annotations

from dataclasses import dataclass

from tuiapp.view.utilisation import Use


@dataclass(frozen=True, slots=True)
class UseRow:
    """One measure.

    Attributes:
        value: as people read it; empty for the share that `use` says.
        means: what it says.
        lies: when it misleads.
        problem: why there is no number; empty where there is one.
    """

    name: str
    use: Use
    means: str
    lies: str
    value: str = ""
    problem: str = ""


def is_known(use: Use) -> bool:
    """Whether there was a number in sight at all; before the first one, the row just waits."""
    return any(value is not None for value in use.trend)
