"""`Linear`: a straight line per kind of token."""

from __future__ import annotations

from dataclasses import dataclass

from engine.plan import Plan


@dataclass(frozen=True, slots=True)
class Linear:
    """So much a pass, a prefill token, a sequence and a token of context.

    Attributes:
        pass_ms, prefill_token_ms, sequence_ms, context_token_ms: in milliseconds.
    """

    pass_ms: float = 12.0
    prefill_token_ms: float = 0.02
    sequence_ms: float = 0.03
    context_token_ms: float = 2e-5

    def seconds(self, plan: Plan) -> float:
        num_prefill = context = 0
        for row in plan.rows:
            seq, num_tokens = row.seq, row.num_tokens
            context += seq.num_computed + num_tokens
            if num_tokens and not seq.is_decoding:
                num_prefill += num_tokens
        if plan.rectangular and num_prefill:
            num_prefill = plan.num_slots
        milliseconds = (
            self.pass_ms
            + self.prefill_token_ms * num_prefill
            + self.sequence_ms * len(plan.rows)
            + self.context_token_ms * context
        )
        return milliseconds / 1000
