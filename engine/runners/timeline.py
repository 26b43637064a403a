"""`Timeline`: when a device that is not here would be done with the passes given to it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.clock import Clock
from engine.plan import Launch, PassTiming


class Timeline:
    """Passes run one after another, each from its launch or from the end of the one before."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._free_at = 0.0

    def add(self, launch: Launch, seconds: float) -> Launch:
        """Let a pass that was just launched take so long."""
        began = max(self._clock.now(), self._free_at)
        self._free_at = began + seconds
        return Timed(launch, self._clock, began, launch.mode, PassTiming(device=seconds))


@dataclass(frozen=True, slots=True)
class Timed:
    """A pass whose result is there once its time has passed.

    Attributes:
        began: when its turn came, in seconds on the clock.
        timing: of the device that it stands for; what the launch measured is of another one.
    """

    launch: Launch
    clock: Clock
    began: float
    mode: str
    timing: PassTiming

    def result(self) -> list[int]:
        """Sleep until the pass has ended.

        Raises:
            RunnerError: the pass failed.
        """
        token_ids = self.launch.result()
        self.clock.sleep(self.timing.device - (self.clock.now() - self.began))
        return token_ids
