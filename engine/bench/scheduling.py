"""What the engine itself costs a step, by the number of running sequences.

Sequences decode with nothing computed: the runner makes tokens up at once. What is left is the
policy (`schedule`), the made-up tokens (`launch`), and text, events and records (`rest`).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from engine.clock import VirtualClock
from engine.core import EngineCore
from engine.cost import Linear
from engine.events import EngineInfo
from engine.log import EventLog
from engine.metrics import Metrics
from engine.plan import Batcher, Launch, Plan, Runner
from engine.queues import Queues
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
        metrics: folding its events into the report, which is not part of the step.
    """

    num_seqs: int
    schedule: float
    launch: float
    rest: float
    metrics: float

    @property
    def step(self) -> float:
        return self.schedule + self.launch + self.rest


def measure_scheduling(sizes: Sequence[int] = SIZES, num_steps: int = 200) -> list[StepCost]:
    """Time steps of an engine that computes nothing."""
    return [_measure(size, num_steps) for size in sizes]


@dataclass(slots=True)
class _TimedBatcher:
    """A batcher, with the CPU time that it took last."""

    batcher: Batcher
    request_level: ClassVar[bool] = False
    seconds: float = 0.0

    def schedule(self, queues: Queues, now: float) -> Plan:
        began = time.process_time()
        plan = self.batcher.schedule(queues, now)
        self.seconds = time.process_time() - began
        return plan


@dataclass(slots=True)
class _TimedRunner:
    """A runner, with the CPU time that a launch took last."""

    runner: Runner
    seconds: float = 0.0

    def launch(self, plan: Plan) -> Launch:
        began = time.process_time()
        launch = self.runner.launch(plan)
        self.seconds = time.process_time() - began
        return launch

    def resize(self, num_blocks: int, block_size: int) -> None:
        self.runner.resize(num_blocks, block_size)


def _measure(num_seqs: int, num_steps: int) -> StepCost:
    core, metrics = _make_core(num_seqs, num_steps), Metrics()
    batcher, runner = _TimedBatcher(core.batcher), _TimedRunner(core.runner)
    core.batcher, core.runner = batcher, runner
    parts: list[tuple[float, float, float, float]] = []
    position = len(core.log)
    for _ in range(num_steps):
        began = time.process_time()
        core.step()
        stepped = time.process_time()
        events, position = core.log.since(position)
        metrics.feed(events)
        folded = time.process_time()
        known = batcher.seconds, runner.seconds
        parts.append((*known, stepped - began - sum(known), folded - stepped))
    return StepCost(num_seqs, *(statistics.median(part) for part in zip(*parts, strict=True)))


def _make_core(num_seqs: int, num_steps: int) -> EngineCore:
    """A core in which so many sequences decode."""
    tokenizer, clock = ToyTokenizer(), VirtualClock()
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
