"""A runner whose tokens are another's and whose time is a cost model's."""

from __future__ import annotations

from dataclasses import dataclass

from engine.clock import Clock
from engine.cost import CostModel
from engine.plan import Launch, PassTiming, Plan, Runner


class CostedRunner:
    """Real text at the pace of hardware that is not here, for a clock that does not run itself.

    Attributes:
        runner: whose tokens they are.
    """

    def __init__(self, runner: Runner, clock: Clock, cost: CostModel) -> None:
        self.runner = runner
        self._clock = clock
        self._cost = cost

    def launch(self, plan: Plan) -> Launch:
        launch, seconds = self.runner.launch(plan), self._cost.seconds(plan)
        self._clock.sleep(seconds)
        return Costed(launch, PassTiming(device=seconds))

    def resize(self, num_blocks: int, block_size: int) -> None:
        self.runner.resize(num_blocks, block_size)


@dataclass(frozen=True, slots=True)
class Costed:
    """A pass of a runner; what it measured would be of another device than its time."""

    launch: Launch
    timing: PassTiming

    @property
    def mode(self) -> str:
        return self.launch.mode

    def result(self) -> list[int]:
        return self.launch.result()
