"""A runner that computes nothing and takes as long as a cost model says."""

from __future__ import annotations

from engine.clock import Clock
from engine.cost import CostModel
from engine.plan import Done, Launch, Plan
from engine.request import Sequence
from engine.runners.timeline import Timeline


class SimRunner:
    """Token ids are made up but repeatable: they walk through the vocabulary from the id on.

    Args:
        vocab_size: ids run from 1 to it, so that the end token 0 never comes.
    """

    def __init__(self, clock: Clock, cost: CostModel, vocab_size: int) -> None:
        self._timeline = Timeline(clock)
        self._cost = cost
        self._vocab_size = vocab_size

    def launch(self, plan: Plan) -> Launch:
        done = Done([self._token(row.seq) for row in plan.rows if row.samples])
        return self._timeline.add(done, self._cost.seconds(plan))

    def resize(self, num_blocks: int, block_size: int) -> None:
        """Nothing to do: no cache is held."""

    def _token(self, seq: Sequence) -> int:
        start = sum(seq.request.id.encode()) * 7
        return 1 + (start + seq.num_output_tokens) % (self._vocab_size - 1)
