"""A runner whose tokens are another's and whose time is a cost model's."""

from __future__ import annotations

from engine.clock import Clock
from engine.cost import CostModel
from engine.plan import Launch, Plan, Runner
from engine.runners.timeline import Timeline


class CostedRunner:
    """Real text at the pace of hardware that is not here, for a clock that does not run itself.

    Attributes:
        runner: whose tokens they are.
    """

    def __init__(self, runner: Runner, clock: Clock, cost: CostModel) -> None:
        self.runner = runner
        self._timeline = Timeline(clock)
        self._cost = cost

    def launch(self, plan: Plan) -> Launch:
        return self._timeline.add(self.runner.launch(plan), self._cost.seconds(plan))

    def resize(self, num_blocks: int, block_size: int) -> None:
        self.runner.resize(num_blocks, block_size)
