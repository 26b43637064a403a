"""`Engines`: one engine after the other, with the model loaded once."""

from __future__ import annotations

from engine.assembly import build_core
from engine.clock import VirtualClock, WallClock
from engine.core import EngineCore
from engine.cost import CostModel
from engine.log import EventLog
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings

LOG_CAPACITY = 8192  # events; whoever reads a run's log reads it after every step


class Engines:
    """Builds engines that differ in their settings alone, each with a clock and a log of its own.

    Only the newest can be used: it takes over the model of the one before, whose cache is freed.

    Args:
        predecessor: an engine of that specification, whose model the first one takes over.
        log_capacity: events that each log keeps; None keeps all.
        cost: how long passes take, in place of what the device says.
    """

    def __init__(
        self,
        spec: ModelSpec,
        predecessor: EngineCore | None = None,
        log_capacity: int | None = LOG_CAPACITY,
        cost: CostModel | None = None,
    ) -> None:
        self.spec = spec
        self._newest = predecessor
        self._log_capacity = log_capacity
        self._cost = cost

    @property
    def is_simulated(self) -> bool:
        """Whether time comes from a cost model, so that no clock needs to be waited for."""
        return self._cost is not None or not self.has_model

    @property
    def has_model(self) -> bool:
        """Whether a model is loaded, of which all engines but the newest are deprived."""
        return not self.spec.device.startswith("sim")

    def build(self, settings: EngineSettings) -> EngineCore:
        """An engine under these settings.

        Raises:
            ConfigError: there is no such model or device, or no memory for it.
        """
        clock = VirtualClock() if self.is_simulated else WallClock()
        log = EventLog(self._log_capacity)
        self._newest = build_core(
            self.spec, settings, clock, log, self._cost, predecessor=self._newest
        )
        return self._newest
