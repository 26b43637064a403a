"""What the engine itself costs a step, by the number of running sequences.

Sequences decode with nothing computed: the runner makes tokens up at once. What is left is what
the engine tells of itself in the `split` of every pass, by a clock that counts CPU time. Beside
the whole step stands its core, measured alone: the plan and the state of queues, cache and
sequences, with no text, no events and no records.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from engine.core import EngineCore
from engine.cost import Linear
from engine.events import EngineInfo, Step, Token
from engine.flight import advance, fill
from engine.log import EventLog
from engine.metrics import Metrics
from engine.request import Request, SamplingParams
from engine.runners.sim import SimRunner
from engine.settings import EngineSettings
from engine.tokenizer import ToyTokenizer

SIZES = (8, 64, 256, 1024)
PROMPT_TOKENS = 100
KEPT_EVENTS = 4096  # more than a step writes


@dataclass(frozen=True, slots=True)
class StepCost:
    """CPU seconds of the median step with so many sequences, part by part.

    Attributes:
        state: the batcher plans, blocks change hands, sequences move on and get their tokens;
            measured in steps of nothing else, so part of `schedule` and of `apply`.
        schedule: the batcher plans.
        launch: tokens are made up.
        apply: sequences move on; tokens and deliveries are noted and logged.
        detokenise: tokens become text.
        record: the pass is written down.
        step: all of it, and what lies between.
        metrics: folding its events into the report, which is not part of the step.
    """

    num_seqs: int
    state: float
    schedule: float
    launch: float
    apply: float
    detokenise: float
    record: float
    step: float
    metrics: float

    @property
    def rest(self) -> float:
        """All but the plan and the made-up tokens."""
        return self.step - self.schedule - self.launch


def measure_scheduling(sizes: Sequence[int] = SIZES, num_steps: int = 200) -> list[StepCost]:
    """Time steps of an engine that computes nothing."""
    return [_measure(size, num_steps) for size in sizes]


def measure_logging(num_events: int = 50_000) -> float:
    """CPU seconds that one event takes to be made and logged, on average."""
    log = EventLog(KEPT_EVENTS)
    began = time.process_time()
    for number in range(num_events):
        log.append(Token(0.5, "r1", number, " word"))
    return (time.process_time() - began) / num_events


class _CpuClock:
    """CPU time of this process; nothing is waited for."""

    def now(self) -> float:
        return time.process_time()

    def sleep(self, seconds: float) -> None:
        """Return at once."""


def _measure(num_seqs: int, num_steps: int) -> StepCost:
    core, metrics = _make_core(num_seqs, num_steps), Metrics()
    parts: list[tuple[float, ...]] = []
    position = len(core.log)
    for _ in range(num_steps):
        began = time.process_time()
        core.step()
        stepped = time.process_time()
        events, position = core.log.since(position)
        metrics.feed(events)
        folded = time.process_time()
        [split] = [event.split for event in events if isinstance(event, Step)]
        told = (split.schedule, split.launch, split.apply, split.detokenise, split.log)
        parts.append((*told, stepped - began, folded - stepped))
    medians = (statistics.median(part) for part in zip(*parts, strict=True))
    return StepCost(num_seqs, _measure_state(num_seqs, num_steps), *medians)


def _measure_state(num_seqs: int, num_steps: int) -> float:
    """CPU seconds of the median step that only plans, and moves sequences and blocks."""
    core, token_ids, costs = _make_core(num_seqs, num_steps), [1] * num_seqs, []
    for _ in range(num_steps):
        began = time.process_time()
        plan = core.batcher.schedule(core.queues, began)
        fill(advance(plan.rows), token_ids)
        core.queues.pool.take_changes()
        costs.append(time.process_time() - began)
    return statistics.median(costs)


def _make_core(num_seqs: int, num_steps: int) -> EngineCore:
    """A core in which so many sequences decode."""
    tokenizer, clock = ToyTokenizer(), _CpuClock()
    settings = EngineSettings(
        max_num_seqs=num_seqs,
        max_num_batched_tokens=num_seqs * PROMPT_TOKENS,
        long_prefill_token_threshold=0,
    )
    info = EngineInfo("toy", "none", "-", "-", 0, 8192, num_seqs * 64, 16, is_simulated=True)
    runner = SimRunner(clock, Linear(), tokenizer.vocab_size)
    core = EngineCore(settings, info, runner, tokenizer, clock, EventLog(KEPT_EVENTS))
    sampling = SamplingParams(max_tokens=2 * num_steps, ignore_eos=True)
    for number in range(num_seqs):
        core.add(Request(f"r{number}", (1,) * PROMPT_TOKENS, sampling))
    core.step()
    return core
