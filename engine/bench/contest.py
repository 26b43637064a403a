"""Contenders take turns at the same requests, so that a slow minute touches all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol


class Contender(Protocol):
    """A way to serve the requests that it was made for."""

    @property
    def name(self) -> str: ...

    def serve(self) -> int:
        """Serve all of them; return the output tokens that were asked for and came."""
        ...

    def cpu_seconds(self) -> float | None:
        """CPU time used so far by whatever serves; None where that cannot be told."""
        ...


@dataclass(frozen=True, slots=True)
class Rate:
    """Output tokens a second.

    Attributes:
        per_cpu_second: of whatever serves; None where that cannot be told.
    """

    per_second: float
    per_cpu_second: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """One contender over all rounds.

    Attributes:
        rate: medians.
        lead: how many times its rate the first contender reached, in the median round; the same
            by CPU second in `cpu_lead`.
    """

    name: str
    rate: Rate
    lead: float
    cpu_lead: float | None


class ContestError(Exception):
    """A contender did not do what all have to do."""


def hold(
    contenders: Sequence[Contender],
    num_tokens: int,
    num_rounds: int,
    on_turn: Callable[[str], object] = lambda name: None,
) -> list[Standing]:
    """Let all take turns, in a round that does not count and then `num_rounds` times.

    Args:
        num_tokens: that each has to deliver.
        on_turn: told whose turn it is.

    Raises:
        ContestError: one delivered more or less.
    """
    rounds: list[list[Rate]] = []
    for _ in range(num_rounds + 1):
        rates = []
        for contender in contenders:
            on_turn(contender.name)
            rates.append(_take_turn(contender, num_tokens))
        rounds.append(rates)
    return [_stand(each.name, index, rounds[1:]) for index, each in enumerate(contenders)]


def _take_turn(contender: Contender, num_tokens: int) -> Rate:
    began, began_cpu = time.perf_counter(), contender.cpu_seconds()
    delivered = contender.serve()
    seconds, ended_cpu = time.perf_counter() - began, contender.cpu_seconds()
    if delivered != num_tokens:
        raise ContestError(
            f"{contender.name} delivered {delivered} output tokens in place of {num_tokens}"
        )
    if began_cpu is None or ended_cpu is None:
        return Rate(num_tokens / seconds, None)
    return Rate(num_tokens / seconds, num_tokens / (ended_cpu - began_cpu))


def _stand(name: str, index: int, rounds: Sequence[Sequence[Rate]]) -> Standing:
    own, first = [rates[index] for rates in rounds], [rates[0] for rates in rounds]
    per_second = [rate.per_second for rate in own]
    per_cpu = [rate.per_cpu_second for rate in own if rate.per_cpu_second]
    leads = [a.per_second / b.per_second for a, b in zip(first, own, strict=True)]
    cpu_leads = [
        a.per_cpu_second / b.per_cpu_second
        for a, b in zip(first, own, strict=True)
        if a.per_cpu_second and b.per_cpu_second
    ]
    return Standing(
        name,
        Rate(median(per_second), median(per_cpu) if per_cpu else None),
        median(leads),
        median(cpu_leads) if cpu_leads else None,
    )
