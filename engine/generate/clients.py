"""Closed-loop traffic: each client waits for its answer, thinks, and asks again."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from engine.checks import require, require_natural, require_positive
from engine.generate.bounded import Floats
from engine.generate.draft import Draft
from engine.generate.lengths import AnyLengths
from engine.generate.streams import stream
from engine.generate.traits import Traits


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedThink:
    """Always as long."""

    kind: ClassVar[str] = "fixed"
    mean_s: float

    def __post_init__(self) -> None:
        require_natural(mean_s=self.mean_s)

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Draw seconds [count]."""
        return np.full(count, self.mean_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialThink:
    """Mostly short, sometimes long."""

    kind: ClassVar[str] = "exponential"
    mean_s: float

    def __post_init__(self) -> None:
        require_natural(mean_s=self.mean_s)

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Draw seconds [count]."""
        return rng.exponential(self.mean_s, count)


@dataclass(frozen=True, slots=True, kw_only=True)
class LognormalThink:
    """A typical time with a long tail.

    Attributes:
        sigma: standard deviation of the natural logarithm.
    """

    kind: ClassVar[str] = "lognormal"
    mean_s: float
    sigma: float = 1.0

    def __post_init__(self) -> None:
        require_positive(mean_s=self.mean_s)
        require_natural(sigma=self.sigma)

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Draw seconds [count]."""
        return rng.lognormal(np.log(self.mean_s) - self.sigma**2 / 2, self.sigma, count)


AnyThink = FixedThink | ExponentialThink | LognormalThink


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients(Traits):
    """So many people who take turns with the engine; the load follows its speed.

    Attributes:
        count: of people.
        requests_each: how often each asks.
        ramp_s: their first requests are spread evenly over these seconds.
        think: from the end of an answer to the next request.
        prompt, output: lengths in tokens.
        history: every turn's prompt begins with all that was said before, as in a chat; its own
            length comes on top.
    """

    name: str
    count: int
    requests_each: int
    prompt: AnyLengths
    output: AnyLengths
    ramp_s: float = 0.0
    think: AnyThink = field(default_factory=lambda: FixedThink(mean_s=0.0))
    history: bool = False

    def __post_init__(self) -> None:
        require(bool(self.name), "name must not be empty")
        require_positive(count=self.count, requests_each=self.requests_each)
        require_natural(ramp_s=self.ramp_s)

    def drafts(self, seed: int, folder: Path = Path()) -> list[Draft]:
        """Draw the requests, turn by turn; client 3 asks people-3-0, then people-3-1.

        Raises:
            ValueError: no length can be drawn, or the text's file is not there.
        """
        total = self.count * self.requests_each
        prompts = self.prompt.draw(stream(seed, self.name, "prompt"), total)
        outputs = self.output.draw(stream(seed, self.name, "output"), total)
        pauses = self.think.draw(stream(seed, self.name, "think"), total)
        drafts = [
            self._draft(*divmod(index, self.count), prompt, output, float(pause))
            for index, (prompt, output, pause) in enumerate(
                zip(prompts, outputs, pauses, strict=True)
            )
        ]
        return self.give(drafts, seed, self.name, folder)

    def _draft(self, turn: int, client: int, prompt: int, output: int, pause: float) -> Draft:
        name = f"{self.name}-{client}-{turn}"
        if not turn:
            return Draft(name, self.name, self.ramp_s * client / self.count, prompt, output)
        before = f"{self.name}-{client}-{turn - 1}"
        return Draft(
            name,
            self.name,
            0.0,
            prompt,
            output,
            follows=before,
            delay=pause,
            has_history=self.history,
        )
