"""`Life`: one request from its arrival to its last delivery, as far as the log tells."""

from __future__ import annotations

from dataclasses import dataclass

from engine.request import COMPLETE, FinishReason, Request
from tuiapp.explain.gaps import Gap
from tuiapp.explain.stages import Part, Span, add_up


@dataclass(frozen=True, slots=True)
class Life:
    """Times are in seconds on the engine's clock.

    Attributes:
        spans: without holes from the arrival on; the last one may still go on.
        end: of the last span.
        first_pass, last_pass: that it ran in, counted from 1; None while it ran in none.
        deliveries: one time a delivery.
        gaps: between two deliveries each, in seconds.
        worst_gaps: the longest of them, the longest first, with what was in them.
        blocks: how many KV blocks it held, from which time on.
        block_table: ids of those that it holds now.
        num_cached: tokens of its prompt that were in the cache when it was first admitted.
        num_chunks, num_prefilled: pieces in which its prompt was first read, and their tokens.
        text: all of its output so far.
    """

    request: Request
    spans: tuple[Span, ...]
    end: float
    slot: int | None
    first_pass: int | None
    last_pass: int | None
    deliveries: tuple[float, ...]
    gaps: tuple[float, ...]
    worst_gaps: tuple[Gap, ...]
    blocks: tuple[tuple[float, int], ...]
    block_table: tuple[int, ...]
    num_cached: int
    num_chunks: int
    num_prefilled: int
    num_output_tokens: int
    num_delivered: int
    num_preemptions: int
    reason: FinishReason | None
    message: str
    text: str

    @property
    def start(self) -> float:
        return self.request.arrival

    @property
    def ttft(self) -> float | None:
        """Seconds to the first delivery."""
        return self.deliveries[0] - self.start if self.deliveries else None

    @property
    def e2e(self) -> float | None:
        """Seconds to the last delivery, once the client has the whole answer."""
        has_all = self.reason in COMPLETE and self.num_delivered == self.num_output_tokens
        return self.deliveries[-1] - self.start if has_all else None

    @property
    def worst(self) -> Gap | None:
        """The longest gap between two deliveries."""
        return self.worst_gaps[0] if self.worst_gaps else None

    @property
    def waterfall(self) -> tuple[Part, ...]:
        """What the time to first token was spent on; the parts add up to it.

        Until something is delivered, what the time since the arrival was spent on.
        """
        return add_up(self.spans, self.deliveries[0] if self.deliveries else self.end)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the whole life was spent on."""
        return add_up(self.spans)

    @property
    def most_blocks(self) -> int:
        """KV blocks that it held at most."""
        return max((count for _, count in self.blocks), default=0)

    def blocks_at(self, time: float) -> int:
        """KV blocks that it held at a moment."""
        held = 0
        for since, count in self.blocks:
            if since > time:
                break
            held = count
        return held
