"""`Load`: what in a plan costs time, counted."""

from __future__ import annotations

from dataclasses import dataclass

from engine.plan import Plan


@dataclass(frozen=True, slots=True)
class Load:
    """The work of one forward pass, padding and dead rows counted.

    Attributes:
        num_rows: sequences in the pass.
        num_positions: tokens that go through the layers.
        num_sampled: tokens that go through the head as well.
        num_attended: pairs of a query and a key that it sees; each query of a row's padding sees
            all of the row.
        num_cached: tokens whose keys and values are read.
    """

    num_rows: int
    num_positions: int
    num_sampled: int
    num_attended: int
    num_cached: int

    @classmethod
    def of(cls, plan: Plan) -> Load:
        """Count a plan that has not been applied yet."""
        width = plan.width if plan.rectangular else 0
        num_positions = num_sampled = num_attended = num_cached = 0
        for row in plan.rows:
            seq, num_tokens = row.seq, row.num_tokens
            context = seq.num_computed + num_tokens
            num_queries = width or num_tokens
            num_positions += num_queries
            num_sampled += row.samples
            num_attended += num_queries * context - num_tokens * (num_tokens - 1) // 2
            num_cached += context
        return cls(len(plan.rows), num_positions, num_sampled, num_attended, num_cached)
