"""`measure`: time forward passes on the device that is here.

The passes go through the engine's own loop and its real runner. Only the batcher is special: it
takes most of each prompt for computed already, so that a pass over a long context costs no
prefill first. What the cache holds there is arbitrary, which changes no timing.

On a CPU with one thread the clock counts the process's own CPU time, which is what a pass takes on
an idle machine, whoever else runs on this one. All points take turns, round by round, so that a
slow minute touches all alike; a point's time is the median of its rounds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from engine.calibrate.points import Point
from engine.core import EngineCore
from engine.cost import Load
from engine.cost.fit import Timed
from engine.events import Failed, is_pass
from engine.plan import Plan, Row, RunnerError
from engine.queues import Queues
from engine.request import Request, SamplingParams

ROUNDS = 9
CHUNK_LABEL, DECODE_LABEL = "chunk", "decode"


class CpuClock:
    """Seconds of CPU time that this process has used, all threads together."""

    def __init__(self) -> None:
        self._origin = time.process_time()

    def now(self) -> float:
        return time.process_time() - self._origin

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))


@dataclass(slots=True)
class Pretending:
    """A batcher that admits everybody and computes only the ends of their prompts.

    Attributes:
        point: how much to compute of a prompt that is labelled as a chunk; 1 token of others.
        load: of the last plan.
    """

    request_level: ClassVar[bool] = False
    point: Point = field(default_factory=Point)
    load: Load = field(default_factory=lambda: Load.of(Plan()))

    def schedule(self, queues: Queues, now: float) -> Plan:
        rows = []
        while queues.waiting:
            seq = queues.admit()
            num_tokens = self.point.chunk if seq.request.label == CHUNK_LABEL else 1
            seq.num_computed = seq.num_tokens - num_tokens
            has_room = queues.pool.grow(seq, seq.num_tokens)
            assert has_room, "a grid was drawn that the cache does not hold"
            rows.append(Row(seq, num_tokens))
        plan = Plan(tuple(rows), rectangular=self.point.is_padded)
        self.load = Load.of(plan)
        return plan


def measure(
    core: EngineCore,
    points: Sequence[Point],
    rounds: int = ROUNDS,
    on_round: Callable[[], object] = lambda: None,
) -> list[Timed]:
    """Time every point, in a round before the first that does not count and then `rounds` times.

    Args:
        core: idle, on a clock that runs by itself, with a cache for `MAX_CONTEXT_TOKENS` and a
            block a row.
        on_round: called after each round.

    Raises:
        RunnerError: a pass failed, for want of memory perhaps.
    """
    batcher = Pretending()
    core.batcher = batcher
    loads: list[Load] = []
    seconds: list[list[float]] = [[] for _ in points]
    for _ in range(rounds + 1):
        loads.clear()
        for times, point in zip(seconds, points, strict=True):
            times.append(_time(core, batcher, point))
            loads.append(batcher.load)
        on_round()
    medians = [statistics.median(times[1:]) for times in seconds]
    return [Timed(load, median) for load, median in zip(loads, medians, strict=True)]


def _time(core: EngineCore, batcher: Pretending, point: Point) -> float:
    """Run one pass and clear up after it; return its seconds.

    Raises:
        RunnerError: it failed.
    """
    batcher.point = point
    position = len(core.log)
    for request in _requests(point, f"{position}"):
        core.add(request)
    core.step()
    events, _ = core.log.since(position)
    core.abort_all()
    for event in events:
        if isinstance(event, Failed):
            raise RunnerError(event.message)
    (duration,) = (event.duration for event in events if is_pass(event))
    return duration


def _requests(point: Point, name: str) -> list[Request]:
    lengths = [(DECODE_LABEL, point.context)] * point.num_decodes
    if point.chunk:
        lengths.append((CHUNK_LABEL, point.chunk + point.chunk_context))
    sampling = SamplingParams(max_tokens=2, ignore_eos=True)  # so that the pass finishes nobody
    return [
        Request(f"{name}-{index}", (1,) * length, sampling, label=label)
        for index, (label, length) in enumerate(lengths)
    ]
