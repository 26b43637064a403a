"""What the engine itself costs a step, by the number of running sequences.

`python tests/bench/bench_scheduler.py` lets so many sequences decode with nothing computed: the
runner makes tokens up at once. What is left is the policy (`schedule`), the counting of the load
and the made-up tokens (`launch`), and text, events and records (`rest`); beside the whole step
stands what folding its events into metrics takes. CPU time, the median of the steps.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.clock import VirtualClock
from engine.core import EngineCore
from engine.cost import Linear
from engine.events import EngineInfo
from engine.log import EventLog
from engine.metrics import Metrics
from engine.request import Request, SamplingParams
from engine.runners.sim import SimRunner
from engine.settings import EngineSettings
from engine.tokenizer import ToyTokenizer

SIZES = (8, 64, 256, 1024)
NUM_STEPS = 200
PROMPT_TOKENS = 100
KEPT = 4096  # events in the log: more than a step writes
PARTS = ("schedule", "launch", "rest", "step", "metrics")


class Stopwatch:
    """Calls a function and counts the CPU time that it took."""

    def __init__(self, function) -> None:
        self._function = function
        self.seconds = 0.0

    def __call__(self, *arguments):
        began = time.process_time()
        result = self._function(*arguments)
        self.seconds = time.process_time() - began
        return result


class Timed:
    """A batcher or a runner whose one method is timed."""

    request_level = False

    def __init__(self, schedule=None, launch=None) -> None:
        self.schedule, self.launch = Stopwatch(schedule), Stopwatch(launch)


def make_core(num_seqs: int) -> EngineCore:
    """A core in which so many sequences decode."""
    tokenizer, clock = ToyTokenizer(), VirtualClock()
    settings = EngineSettings(
        max_num_seqs=num_seqs,
        max_num_batched_tokens=num_seqs * PROMPT_TOKENS,
        long_prefill_token_threshold=0,
    )
    info = EngineInfo("toy", "none", "-", "-", 0, 8192, num_seqs * 64, 16, is_simulated=True)
    runner = SimRunner(clock, Linear(), tokenizer.vocab_size)
    core = EngineCore(settings, info, runner, tokenizer, clock, EventLog(KEPT))
    sampling = SamplingParams(max_tokens=2 * NUM_STEPS, ignore_eos=True)
    for number in range(num_seqs):
        core.add(Request(f"r{number}", (1,) * PROMPT_TOKENS, sampling))
    core.step()
    return core


def measure(num_seqs: int) -> dict[str, float]:
    """Seconds a step, by part."""
    core, metrics = make_core(num_seqs), Metrics()
    core.batcher = batcher = Timed(schedule=core.batcher.schedule)
    core.runner = runner = Timed(launch=core.runner.launch)
    step, feed = Stopwatch(core.step), Stopwatch(metrics.feed)
    times: dict[str, list[float]] = {part: [] for part in PARTS}
    position = len(core.log)
    for _ in range(NUM_STEPS):
        step()
        events, position = core.log.since(position)
        feed(events)
        known = batcher.schedule.seconds, runner.launch.seconds
        parts = (*known, step.seconds - sum(known), step.seconds, feed.seconds)
        for part, seconds in zip(PARTS, parts, strict=True):
            times[part].append(seconds)
    return {part: statistics.median(seconds) for part, seconds in times.items()}


def main() -> None:
    print("us a step " + "".join(f"{part:>10}" for part in PARTS) + "   step, ns a sequence")
    for size in SIZES:
        found = measure(size)
        cells = "".join(f"{seconds * 1e6:10.1f}" for seconds in found.values())
        print(f"{size:>9} {cells}   {found['step'] / size * 1e9:12.0f}")


if __name__ == "__main__":
    main()
