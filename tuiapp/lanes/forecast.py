"""How long a lane will take on the device at hand: a rehearsal of it in simulated time.

The passes of the rehearsal take what passes of the live engine took, as a straight line over the
token positions that they computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from engine.assembly import SIM_LINEAR, build_core
from engine.clock import VirtualClock
from engine.cost import CostModel, Linear
from engine.events import EngineInfo, Event, Finished, is_pass
from engine.log import EventLog
from engine.plan import Plan
from engine.request import Request
from engine.run import advance
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from engine.tokenizer import ToyTokenizer
from engine.workload import Feed, Workload

FEWEST_PASSES = 30  # of which a line can be made
MOST_PASSES = 3000  # of a rehearsal: at most two or three seconds of one CPU core
REFERENCE = Linear()  # the device that presets were made for


@dataclass(frozen=True, slots=True)
class Measured:
    """What passes take, by the token positions that they compute; in seconds.

    It is a `CostModel`.
    """

    by_pass: float
    by_token: float

    def seconds(self, plan: Plan) -> float:
        return self.by_pass + self.by_token * plan.num_slots

    @property
    def pace(self) -> float:
        """How much slower a decoding pass of one sequence is than on the reference device."""
        return (self.by_pass + self.by_token) / (REFERENCE.pass_ms / 1000)


def fit_passes(events: Iterable[Event]) -> Measured | None:
    """The line through the passes of a log; None if it has too few."""
    steps = [event for event in events if is_pass(event)]
    if len(steps) < FEWEST_PASSES:
        return None
    sizes = np.array([step.num_slots for step in steps], dtype=float)
    seconds = np.array([step.duration for step in steps])
    if np.ptp(sizes) == 0 or seconds.min() <= 0:
        return Measured(float(seconds.mean()), 0.0)
    by_token, by_pass = np.polyfit(sizes, seconds, 1)
    if by_token < 0 or by_pass < 0:
        return Measured(float(seconds.mean()), 0.0)
    return Measured(float(by_pass), float(by_token))


def as_slow_as(pace: float) -> Measured:
    """Passes of a device that is so many times slower than the reference device."""
    return Measured(pace * REFERENCE.pass_ms / 1000, pace * REFERENCE.sequence_ms / 1000)


def in_toy_tokens(requests: Iterable[Request]) -> list[Request]:
    """The same requests for an engine that knows few tokens; what began alike still does."""
    size = ToyTokenizer().vocab_size
    return [
        replace(each, prompt_token_ids=tuple(token % size for token in each.prompt_token_ids))
        for each in requests
    ]


def rehearse(
    settings: EngineSettings,
    info: EngineInfo,
    workload: Workload,
    num_requests: int,
    cost: CostModel,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> float | None:
    """Seconds that a workload takes under some settings; None where nobody can tell.

    What is too long to be rehearsed is taken to go on as it began.

    Args:
        workload: in toy tokens.
        num_requests: how many it brings.
        info: of the engine that it will run on.
        is_cancelled: asked before each pass; from then on nobody can tell.

    Raises:
        ConfigError: there can be no engine under these settings.
    """
    limits = replace(
        settings,
        num_kv_blocks=settings.num_kv_blocks or info.num_kv_blocks,
        max_model_len=settings.max_model_len or info.max_model_len,
    )
    clock = VirtualClock()
    log = EventLog(capacity=None)
    core = build_core(ModelSpec(device=SIM_LINEAR), limits, clock, log, cost)
    feed = Feed(workload, clock.now())
    for _ in range(MOST_PASSES):
        if is_cancelled():
            return None
        if feed.is_over and not core.has_work:
            return clock.now()
        wake_at = advance(core, feed)
        if wake_at == inf and not core.has_work:
            return clock.now()
        if wake_at == inf:
            return None
        if wake_at is not None:
            clock.sleep(max(0.0, wake_at - clock.now()))
    num_ended = sum(isinstance(event, Finished) for event in log.since(0)[0])
    return clock.now() * num_requests / num_ended if num_ended else None
