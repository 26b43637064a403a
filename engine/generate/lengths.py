"""Distributions of prompt and output lengths, in tokens.

Each is a table of a preset, told apart by `kind`. All are rounded to whole tokens, and all can
be bounded by `min` and `max`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.checks import require, require_natural, require_positive
from engine.generate.bounded import Floats, Lengths


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed(Lengths):
    """Always the same."""

    kind: ClassVar[str] = "fixed"
    value: int

    def __post_init__(self) -> None:
        Lengths.__post_init__(self)
        require(self.value >= 1, f"value must be at least 1 token, got {self.value}")

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        return np.full(count, float(self.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform(Lengths):
    """Every whole number from `min` to `max` equally often."""

    kind: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        Lengths.__post_init__(self)
        require(self.max is not None, "max is needed by a uniform distribution")

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        return rng.integers(self.min, self.max or self.min, count, endpoint=True).astype(float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Around(Lengths):
    """Uniform, a share `ratio` to either side of `mean`: the range ratio of `vllm bench serve`."""

    kind: ClassVar[str] = "around"
    mean: float
    ratio: float

    def __post_init__(self) -> None:
        Lengths.__post_init__(self)
        require_positive(mean=self.mean)
        require(0 <= self.ratio < 1, f"ratio must be at least 0 and below 1, got {self.ratio}")

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        low, high = self.mean * (1 - self.ratio), self.mean * (1 + self.ratio)
        return rng.integers(int(low), int(np.ceil(high)), count, endpoint=True).astype(float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal(Lengths):
    """A bell around `mean`."""

    kind: ClassVar[str] = "normal"
    mean: float
    stdev: float

    def __post_init__(self) -> None:
        Lengths.__post_init__(self)
        require_positive(mean=self.mean)
        require_natural(stdev=self.stdev)

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        return rng.normal(self.mean, self.stdev, count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential(Lengths):
    """Many short, few long: what answers of chat models look like."""

    kind: ClassVar[str] = "exponential"
    mean: float

    def __post_init__(self) -> None:
        Lengths.__post_init__(self)
        require_positive(mean=self.mean)

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        return rng.exponential(self.mean, count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lognormal(Lengths):
    """A long tail: what prompts look like.

    Attributes:
        median: half are shorter.
        sigma: standard deviation of the natural logarithm.
    """

    kind: ClassVar[str] = "lognormal"
    median: float
    sigma: float

    def __post_init__(self) -> None:
        Lengths.__post_init__(self)
        require_positive(median=self.median)
        require_natural(sigma=self.sigma)

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        return rng.lognormal(np.log(self.median), self.sigma, count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Zipf(Lengths):
    """A length k from `min` to `max` in proportion to k to the power of -`exponent`."""

    kind: ClassVar[str] = "zipf"
    exponent: float

    def __post_init__(self) -> None:
        Lengths.__post_init__(self)
        require_positive(exponent=self.exponent)
        require(self.max is not None, "max is needed by a zipf distribution")

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        lengths = np.arange(self.min, (self.max or self.min) + 1, dtype=float)
        weights = lengths**-self.exponent
        return rng.choice(lengths, count, p=weights / weights.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Lengths):
    """Some lengths, by weight; without weights equally often."""

    kind: ClassVar[str] = "choice"
    values: tuple[int, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        Lengths.__post_init__(self)
        require(bool(self.values), "values must name at least one length")
        require(min(self.values) >= 1, f"values must be at least 1 token, got {min(self.values)}")
        if self.weights:
            num_values, num_weights = len(self.values), len(self.weights)
            require(
                num_values == num_weights,
                f"weights must be as many as values ({num_values}), got {num_weights}",
            )
            is_share = min(self.weights) >= 0 and sum(self.weights) > 0
            require(is_share, "weights must be at least 0, and one above it")

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        weights = np.array(self.weights or [1.0] * len(self.values))
        return rng.choice(np.array(self.values, dtype=float), count, p=weights / weights.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles(Lengths):
    """What was measured somewhere: a share `p` of the lengths is at most `v`, linear between.

    Attributes:
        p: shares, rising from 0 to 1.
        v: lengths, rising.
    """

    kind: ClassVar[str] = "quantiles"
    p: tuple[float, ...]
    v: tuple[float, ...]

    def __post_init__(self) -> None:
        Lengths.__post_init__(self)
        is_pair = len(self.p) == len(self.v) >= 2
        require(is_pair, f"p and v must be as many, at least 2, got {len(self.p)}, {len(self.v)}")
        require(self.p[0] == 0 and self.p[-1] == 1, "p must begin with 0 and end with 1")
        require(list(self.p) == sorted(self.p), "p must rise")
        require(list(self.v) == sorted(self.v), "v must rise")

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        return np.interp(rng.random(count), self.p, self.v)


AnyLengths = Fixed | Uniform | Around | Normal | Exponential | Lognormal | Zipf | Choice | Quantiles
