"""Time forward passes of every kind on the device that is here: what `batchscope calibrate` fits.

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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import ClassVar

from engine.core import EngineCore
from engine.cost import Load
from engine.cost.fit import Timed
from engine.events import Failed, Step
from engine.plan import Plan, Row, RunnerError
from engine.queues import Queues
from engine.request import Request, SamplingParams

ROUNDS = 9
MAX_CONTEXT_TOKENS = 16_384  # of all rows of a pass together; the cache has to hold them
CHUNK_LABEL, DECODE_LABEL = "chunk", "decode"


@dataclass(frozen=True, slots=True)
class Point:
    """A pass to time: rows that decode, perhaps beside a chunk of a prompt.

    Attributes:
        num_decodes: rows of one token.
        context: tokens that each of them attends to.
        chunk: prompt tokens computed in the pass; 0 for no such row.
        chunk_context: tokens of that prompt before the chunk.
        is_padded: all rows are padded to the chunk, as request-level batching does.
    """

    num_decodes: int = 0
    context: int = 0
    chunk: int = 0
    chunk_context: int = 0
    is_padded: bool = False

    @property
    def kind(self) -> str:
        """What the pass is in the field's words."""
        if self.is_padded:
            return "padded"
        if not self.chunk:
            return "decode"
        return "mixed" if self.num_decodes else "prefill"

    @property
    def num_context_tokens(self) -> int:
        return self.num_decodes * self.context + self.chunk + self.chunk_context


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
    point: Point = Point()
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


def fitting_points(max_model_len: int) -> list[Point]:
    """The grid that a cost model is fitted to."""
    return _grid(
        max_model_len,
        decodes=product((1, 2, 4, 8, 16, 32), (16, 64, 256, 1024)),
        chunks=product((16, 32, 64, 128, 256, 512), (0, 256, 1024)),
        mixed=product((4, 8, 16), (64, 256), (64, 256), (0, 256)),
        padded=product((1, 3, 7), (16,), (32, 128)),
    )


def held_out_points(max_model_len: int) -> list[Point]:
    """A grid between the points of the other one, to see how far the fit carries."""
    return _grid(
        max_model_len,
        decodes=product((3, 6, 12, 24), (32, 128, 512)),
        chunks=product((24, 48, 96, 192, 384), (0, 128, 512)),
        mixed=product((6, 12), (128, 512), (32, 128), (0, 128)),
        padded=product((2, 5), (32,), (48, 96)),
    )


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


def _grid(
    max_model_len: int,
    decodes: Iterable[tuple[int, int]],
    chunks: Iterable[tuple[int, int]],
    mixed: Iterable[tuple[int, int, int, int]],
    padded: Iterable[tuple[int, int, int]],
) -> list[Point]:
    points = [Point(rows, context) for rows, context in decodes]
    points += [Point(chunk=chunk, chunk_context=context) for chunk, context in chunks]
    points += [Point(*each) for each in mixed]
    points += [Point(*each, is_padded=True) for each in padded]
    return [
        point
        for point in points
        if point.num_context_tokens <= MAX_CONTEXT_TOKENS
        and max(point.context, point.chunk + point.chunk_context) < max_model_len - 1
    ]


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
    (duration,) = (event.duration for event in events if isinstance(event, Step) and event.rows)
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
