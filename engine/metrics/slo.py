"""`Slo`: what a request has to keep to count as good."""

from __future__ import annotations

from dataclasses import dataclass

from engine.checks import require_positive
from engine.metrics.timing import Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo:
    """Service level objectives; None asks nothing.

    Attributes:
        ttft_ms, tpot_ms, e2e_ms: in milliseconds at most.
    """

    ttft_ms: float | None = None
    tpot_ms: float | None = None
    e2e_ms: float | None = None

    def __post_init__(self) -> None:
        for name in ("ttft_ms", "tpot_ms", "e2e_ms"):
            limit = getattr(self, name)
            require_positive(**{name: 1.0 if limit is None else limit})

    @property
    def is_set(self) -> bool:
        """Whether anything is asked for."""
        return (self.ttft_ms, self.tpot_ms, self.e2e_ms) != (None, None, None)

    def is_met(self, timing: Timing) -> bool:
        """Whether a request was served in full, and in time.

        An output of one token meets any TPOT; a longer one that came all at once has no TPOT,
        and so meets none.
        """
        if not timing.is_complete:
            return False
        tpot = 0.0 if timing.num_delivered == 1 else timing.tpot
        return (
            _is_within(timing.ttft, self.ttft_ms)
            and _is_within(tpot, self.tpot_ms)
            and _is_within(timing.e2e, self.e2e_ms)
        )


def _is_within(seconds: float | None, limit_ms: float | None) -> bool:
    return limit_ms is None or (seconds is not None and seconds * 1000 <= limit_ms)
