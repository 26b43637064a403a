"""Arrival processes: when requests come, in seconds since the workload began.

Each is a table of a preset, told apart by `kind`. A class of requests ends after so many of them
or at a moment, whichever comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from engine.checks import require, require_natural, require_positive

Floats = npt.NDArray[np.float64]
BATCH = 256  # gaps that are drawn at a time where only the end is known


class Arrivals(Protocol):
    """When requests come."""

    def times(
        self, rng: np.random.Generator, count: int | None, until: float | None
    ) -> list[float]:
        """Moments of arrival, in order.

        Args:
            count: so many at most.
            until: none after that moment; at least one of the two is given.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AtOnce:
    """All together."""

    kind: ClassVar[str] = "at_once"
    at_s: float = 0.0

    def __post_init__(self) -> None:
        require_natural(at_s=self.at_s)

    def times(
        self, rng: np.random.Generator, count: int | None, until: float | None
    ) -> list[float]:
        return _cut([self.at_s] * _need(count, self.kind), count, until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A metronome, `rate` requests a second; the first comes at `at_s`."""

    kind: ClassVar[str] = "constant"
    rate: float
    at_s: float = 0.0

    def __post_init__(self) -> None:
        require_positive(rate=self.rate)
        require_natural(at_s=self.at_s)

    def times(
        self, rng: np.random.Generator, count: int | None, until: float | None
    ) -> list[float]:
        return _spaced(1 / self.rate, self.at_s, count, until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisson:
    """Independent people: gaps are exponential, `rate` requests a second on average."""

    kind: ClassVar[str] = "poisson"
    rate: float
    at_s: float = 0.0

    def __post_init__(self) -> None:
        require_positive(rate=self.rate)
        require_natural(at_s=self.at_s)

    def times(
        self, rng: np.random.Generator, count: int | None, until: float | None
    ) -> list[float]:
        return _summed(lambda n: rng.exponential(1 / self.rate, n), self.at_s, count, until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gamma:
    """Rougher than Poisson with a `shape` below 1, smoother above, at the same mean rate.

    What `vllm bench serve` calls burstiness.

    Attributes:
        rate: requests a second on average.
        shape: of the gamma distribution of gaps; or give `cv`.
        cv: their coefficient of variation, 1 / sqrt(shape).
        rescale: stretch the gaps so that the last request comes at `count` / `rate` exactly.
    """

    kind: ClassVar[str] = "gamma"
    rate: float
    shape: float | None = None
    cv: float | None = None
    rescale: bool = False
    at_s: float = 0.0

    def __post_init__(self) -> None:
        require_positive(rate=self.rate)
        require_natural(at_s=self.at_s)
        is_one = (self.shape is None) != (self.cv is None)
        require(is_one, "one of shape and cv must be given, and not both")
        given = {"shape": self.shape, "cv": self.cv}
        require_positive(**{name: value for name, value in given.items() if value is not None})

    def times(
        self, rng: np.random.Generator, count: int | None, until: float | None
    ) -> list[float]:
        shape = self.shape or 1 / (self.cv or 1.0) ** 2
        if not self.rescale:
            return _summed(
                lambda n: rng.gamma(shape, 1 / (self.rate * shape), n), self.at_s, count, until
            )
        gaps = rng.gamma(shape, 1 / (self.rate * shape), _need(count, self.kind))
        scaled = self.at_s + np.cumsum(gaps) * (len(gaps) / self.rate / gaps.sum())
        return _cut(scaled.tolist(), count, until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ramp:
    """Poisson with a rate that changes from request to request, as `vllm bench serve` ramps up."""

    kind: ClassVar[str] = "ramp"
    rate_from: float
    rate_to: float
    shape: Literal["linear", "exponential"] = "linear"
    at_s: float = 0.0

    def __post_init__(self) -> None:
        require_positive(rate_from=self.rate_from, rate_to=self.rate_to)
        require_natural(at_s=self.at_s)

    def times(
        self, rng: np.random.Generator, count: int | None, until: float | None
    ) -> list[float]:
        between = np.linspace if self.shape == "linear" else np.geomspace
        rates = between(self.rate_from, self.rate_to, _need(count, self.kind))
        times = self.at_s + np.cumsum(rng.exponential(1.0, len(rates)) / rates)
        return _cut(times.tolist(), count, until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """`size` requests together, every so many seconds."""

    kind: ClassVar[str] = "pulse"
    size: int
    every_s: float
    at_s: float = 0.0

    def __post_init__(self) -> None:
        require_positive(size=self.size, every_s=self.every_s)
        require_natural(at_s=self.at_s)

    def times(
        self, rng: np.random.Generator, count: int | None, until: float | None
    ) -> list[float]:
        num_pulses = None if count is None else -(-count // self.size)
        pulses = _spaced(self.every_s, self.at_s, num_pulses, until)
        return _cut([at for at in pulses for _ in range(self.size)], count, until)


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """At given moments."""

    kind: ClassVar[str] = "list"
    times_s: tuple[float, ...]

    def __post_init__(self) -> None:
        is_right = bool(self.times_s) and min(self.times_s) >= 0
        require(is_right, "times_s must name moments of at least 0 s")

    def times(
        self, rng: np.random.Generator, count: int | None, until: float | None
    ) -> list[float]:
        return _cut(sorted(self.times_s), count, until)


AnyArrivals = AtOnce | Constant | Poisson | Gamma | Ramp | Pulse | At


def _need(count: int | None, kind: str) -> int:
    """The count, for a process that has no end without one."""
    if count is None:
        raise ValueError(f"count is needed with arrivals of kind {kind}")
    return count


def _spaced(gap: float, start: float, count: int | None, until: float | None) -> list[float]:
    if count is None:
        assert until is not None, "neither count nor end"
        count = max(0, int((until - start) / gap) + 1)
    return _cut([start + gap * index for index in range(count)], count, until)


def _summed(
    draw_gaps: Callable[[int], Floats], start: float, count: int | None, until: float | None
) -> list[float]:
    """Moments that follow each other by random gaps, the first after one."""
    if count is not None:
        times: list[float] = (start + np.cumsum(draw_gaps(count))).tolist()
        return _cut(times, count, until)
    assert until is not None, "neither count nor end"
    times = []
    while start <= until:
        times += (start + np.cumsum(draw_gaps(BATCH))).tolist()
        start = times[-1]
    return _cut(times, None, until)


def _cut(times: list[float], count: int | None, until: float | None) -> list[float]:
    kept = times if until is None else [at for at in times if at <= until]
    return kept[:count]
