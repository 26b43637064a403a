"""`Lengths`: what the distributions of prompt and output lengths share, which is their bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from engine.checks import require

Floats = npt.NDArray[np.float64]
MAX_ROUNDS = 1000  # of drawing anew, before bounds count as impossible


class Bound(Enum):
    """What happens to a length outside its bounds."""

    CLIP = "clip"  # it becomes the bound
    RESAMPLE = "resample"  # it is drawn anew, which also lowers the mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths(ABC):
    """A distribution of lengths.

    Attributes:
        min, max: bounds, both allowed themselves; at least 1 token, None for no upper one.
        bound: what happens to a length outside them.
    """

    kind: ClassVar[str]
    min: int = 1
    max: int | None = None
    bound: Bound = Bound.CLIP

    def __post_init__(self) -> None:
        require(self.min >= 1, f"min must be at least 1 token, got {self.min}")
        if self.max is not None:
            require(self.max >= self.min, f"max must be at least min ({self.min}), got {self.max}")

    @abstractmethod
    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        """Draw numbers [count], not rounded or bounded yet."""

    def draw(self, rng: np.random.Generator, count: int) -> list[int]:
        """Draw lengths.

        Raises:
            ValueError: next to nothing lies within the bounds.
        """
        if self.bound is Bound.CLIP:
            drawn = np.rint(self.sample(rng, count))
            return [int(length) for length in np.clip(drawn, self.min, self._upper)]
        found: list[int] = []
        for _ in range(MAX_ROUNDS):
            drawn = np.rint(self.sample(rng, count))
            kept = drawn[(drawn >= self.min) & (drawn <= self._upper)]
            found += [int(length) for length in kept[: count - len(found)]]
            if len(found) == count:
                return found
        raise ValueError(f"bound can find no length from {self.min} to {self._upper} to draw")

    @property
    def _upper(self) -> float:
        return np.inf if self.max is None else self.max
