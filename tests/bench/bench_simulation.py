"""Time, memory and growth of large simulated runs: 1,000, 10,000 and 100,000 requests.

`python tests/bench/bench_simulation.py` serves requests with the lengths of the conversation trace
of Azure's 2023 LLM inference data set (CC-BY 4.0, eleven quantiles) by continuous batching in 64
slots on a simulated H100, at 0.8 of the rate at which it serves a thousand that are all there at
once. Prompts are written as they arrive, events folded into metrics as they come, and nothing is
kept. Each size runs in a process of its own, whose peak of resident memory is what it took.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.actions import Action
from engine.assembly import ModelSpec, build_core
from engine.clock import VirtualClock
from engine.generate.arrivals import AnyArrivals, AtOnce, Poisson
from engine.generate.lengths import Quantiles
from engine.generate.streams import stream
from engine.generate.traffic import RequestClass
from engine.log import EventLog
from engine.metrics import Metrics, Report
from engine.prompts import PromptMaker
from engine.request import Answer, Request, SamplingParams
from engine.run import run
from engine.settings import EngineSettings

SIZES = (1_000, 10_000, 100_000)
NUM_TO_SATURATE, LOAD = 1_000, 0.8
SEED = 1
KEPT = 4096  # events in the log: more than a step writes
SPEC = ModelSpec("llama-3.1-8b", "sim:h100")
SETTINGS = EngineSettings(
    max_num_seqs=64, max_num_batched_tokens=2048, long_prefill_token_threshold=0
)
SHARES = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1)
PROMPTS = Quantiles(p=SHARES, v=(2, 29, 181, 207, 396, 1020, 1189, 2734, 4083, 4142, 14050))
OUTPUTS = Quantiles(p=SHARES, v=(7, 16, 41, 54, 85, 129, 395, 424, 451, 601, 1000))


class Drawn:
    """A workload whose prompts are written only when they arrive."""

    def __init__(self, num_requests: int, arrival: AnyArrivals, prompts: PromptMaker) -> None:
        traffic = RequestClass(
            name="r", count=num_requests, arrival=arrival, prompt=PROMPTS, output=OUTPUTS
        )
        self._drafts = traffic.drafts(SEED)[::-1]
        self._prompts = prompts
        self._rng = stream(SEED, "r", "text")

    @property
    def is_over(self) -> bool:
        return not self._drafts

    def next_arrival(self) -> float | None:
        return self._drafts[-1].arrival if self._drafts else None

    def next_time(self) -> float | None:
        return self.next_arrival()

    def take(self, until: float) -> list[Request | Action]:
        taken: list[Request | Action] = []
        while self._drafts and self._drafts[-1].arrival <= until:
            draft = self._drafts.pop()
            prompt = self._prompts.make(draft.num_prompt_tokens, self._rng)
            sampling = SamplingParams(max_tokens=draft.num_output_tokens, ignore_eos=True)
            taken.append(Request(draft.id, prompt, sampling, draft.arrival, draft.label))
        return taken

    def answered(self, answer: Answer, now: float) -> None:
        """Nothing follows an answer."""


def simulate(num_requests: int, arrival: AnyArrivals) -> Report:
    """Serve so many requests and fold what happens, as it happens."""
    core = build_core(SPEC, SETTINGS, VirtualClock(), EventLog(KEPT))
    metrics, position = Metrics(), 0

    def fold() -> None:
        nonlocal position
        events, position = core.log.since(position)
        metrics.feed(events)

    run(core, Drawn(num_requests, arrival, PromptMaker(core.tokenizer)), fold)
    return metrics.report()


def measure(num_requests: int, rate: float) -> dict[str, float]:
    """Serve them at that rate, in requests a second; say what it took and what came out."""
    began, used = time.perf_counter(), time.process_time()
    report = simulate(num_requests, Poisson(rate=rate))
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    service, passes = report.service, report.passes
    assert service.num_completed == num_requests
    return {
        "requests": num_requests,
        "tokens": service.num_output_tokens,
        "passes": passes.num_passes,
        "simulated": report.span,
        "occupancy": passes.occupancy,
        "ttft_p99": service.ttft.p99,
        "wall": wall,
        "cpu": cpu,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measure_apart(num_requests: int, rate: float) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--child", str(num_requests), str(rate)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(int(options.child[0]), float(options.child[1]))))
        return
    rate = LOAD * simulate(NUM_TO_SATURATE, AtOnce()).service.request_throughput
    print(f"{SPEC.model} on {SPEC.device}, {SETTINGS.max_num_seqs} slots, {rate:.2f} requests/s")
    print(
        "requests  output tokens    passes  simulated s  occupancy  TTFT p99 s"
        "    wall s     CPU s  us/token  peak MiB"
    )
    for size in options.sizes:
        found = measure_apart(size, rate)
        print(
            f"{size:8d} {found['tokens']:14d} {found['passes']:9d} {found['simulated']:12.0f} "
            f"{found['occupancy']:10.2f} {found['ttft_p99']:11.2f} {found['wall']:9.1f} "
            f"{found['cpu']:9.1f} {found['cpu'] / found['tokens'] * 1e6:9.2f} "
            f"{found['peak_mib']:9.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
