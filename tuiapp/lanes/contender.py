"""`Contender`: what a verdict asks of one of those that are compared, wherever it ran."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from tuiapp.running.passes import PassTimes


class Contender(Protocol):
    """One engine's runs of the same requests; the lanes of the screen and headless runs are such.

    Attributes:
        is_over: whether it has come to its end.
        problem: why it has not, and never will; empty otherwise.
        complaints: what was refused or failed, in the engine's words.
        passes: how long those of the newest run took.
    """

    @property
    def name(self) -> str: ...
    @property
    def num_requests(self) -> int: ...
    @property
    def num_runs(self) -> int: ...
    @property
    def is_simulated(self) -> bool: ...
    @property
    def is_over(self) -> bool: ...
    @property
    def problem(self) -> str: ...
    @property
    def complaints(self) -> Collection[str]: ...
    @property
    def passes(self) -> PassTimes: ...

    def values(self, metric: str) -> Sequence[float]:
        """A metric in every run that has it."""
        ...
