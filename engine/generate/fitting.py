"""Lengths of recorded requests, made to fit: scaled, then bounded, then cut to the context."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum

from engine.checks import require, require_positive
from engine.traces import RowError


class Over(Enum):
    """What becomes of a length above its bound."""

    CLIP = "clip"
    DROP = "drop"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How recorded lengths become those of requests.

    Attributes:
        scale: what they are multiplied by; never to less than 1 token.
        min, max: bounds, both allowed themselves; None for no upper one.
        over: what becomes of a length above `max`.
    """

    scale: float = 1.0
    min: int = 1
    max: int | None = None
    over: Over = Over.CLIP

    def __post_init__(self) -> None:
        require_positive(scale=self.scale)
        require(self.min >= 1, f"min must be at least 1 token, got {self.min}")
        if self.max is not None:
            require(self.max >= self.min, f"max must be at least min ({self.min}), got {self.max}")

    def apply(self, length: int, what: str, changed: Counter[str]) -> int:
        """The length that fits.

        Args:
            what: `prompt` or `output`.
            changed: counts what was bounded; scaling is asked for and not counted.

        Raises:
            RowError: it is too long, and such rows are dropped.
            ValueError: it is too long, which is an error.
        """
        scaled = max(1, round(length * self.scale))
        if scaled < self.min:
            changed[f"with the {what} raised to {self.min} tokens"] += 1
            return self.min
        if self.max is None or scaled <= self.max:
            return scaled
        if self.over is Over.DROP:
            raise RowError(f"with the {what} above {self.max} tokens")
        if self.over is Over.ERROR:
            raise ValueError(f"max is {self.max} tokens, and one {what} has {scaled}")
        changed[f"with the {what} clipped to {self.max} tokens"] += 1
        return self.max


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOutput(Fit):
    """The same for outputs.

    Attributes:
        missing: tokens of an output whose length the trace does not tell; 256 is what
            `vllm bench serve` assumes.
    """

    missing: int = 256

    def __post_init__(self) -> None:
        Fit.__post_init__(self)
        require_positive(missing=self.missing)
