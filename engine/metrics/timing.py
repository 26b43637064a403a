"""`Timing`: when one request came and when its tokens reached the client."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import Delivered, Finished, Token
from engine.request import COMPLETE, FinishReason, Request


@dataclass(slots=True)
class Timing:
    """One request as its client saw it; times in seconds on the engine's clock.

    Attributes:
        num_generated, num_delivered: output tokens.
        first, last: first and last delivery.
        reason: why it ended; generation may end long before the last delivery.
    """

    label: str
    arrival: float
    num_prompt_tokens: int
    num_generated: int = 0
    num_delivered: int = 0
    first: float | None = None
    last: float | None = None
    reason: FinishReason | None = None

    @classmethod
    def of(cls, request: Request) -> Timing:
        """That of a request which has just arrived."""
        return cls(request.label, request.arrival, len(request.prompt_token_ids))

    def follow(self, event: Token | Delivered | Finished) -> float | None:
        """Note what happened to the request; return the gap that a delivery ended, if any."""
        match event:
            case Token():
                self.num_generated += 1
            case Finished(reason=reason):
                self.reason = reason
            case Delivered(time, _, num_tokens):
                return self.deliver(time, num_tokens)
        return None

    def deliver(self, time: float, num_tokens: int) -> float | None:
        """Note a delivery; return the gap since the one before, if there was one."""
        gap = None if self.last is None else time - self.last
        if self.first is None:
            self.first = time
        self.last = time
        self.num_delivered += num_tokens
        return gap

    @property
    def is_complete(self) -> bool:
        """Whether the whole answer was generated and has reached the client."""
        return self.reason in COMPLETE and self.num_delivered == self.num_generated > 0

    @property
    def ttft(self) -> float | None:
        """Time to first token."""
        return None if self.first is None else self.first - self.arrival

    @property
    def tpot(self) -> float | None:
        """Time per output token after the first; None where all came at once."""
        if self.first is None or self.last is None or self.first == self.last:
            return None
        return (self.last - self.first) / (self.num_delivered - 1)

    @property
    def e2e(self) -> float | None:
        """From arrival to the last token, once it is there."""
        return self.last - self.arrival if self.is_complete and self.last is not None else None
