"""`Fallback`: the requests that stand in for a trace that is not there."""

from __future__ import annotations

from dataclasses import dataclass

from engine.generate.arrivals import AnyArrivals
from engine.generate.lengths import AnyLengths
from engine.generate.traffic import RequestClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """What is played where the file is not there: as a class of requests has it."""

    arrival: AnyArrivals
    prompt: AnyLengths
    output: AnyLengths
    count: int | None = None
    until_s: float | None = None

    def __post_init__(self) -> None:
        self.as_class("fallback")

    def as_class(self, name: str) -> RequestClass:
        """The class of that name."""
        return RequestClass(
            name=name,
            arrival=self.arrival,
            prompt=self.prompt,
            output=self.output,
            count=self.count,
            until_s=self.until_s,
        )
