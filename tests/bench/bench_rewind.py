"""What rewinding costs, with a full log: `python tests/bench/bench_rewind.py [slots]`.

Simulated hardware fills the log; then passes are shown at random and one
by one, one request's life is read, and the copies are weighed. CPU time of this process.
"""

from __future__ import annotations

import os
import random
import sys
import tracemalloc
from pathlib import Path
from statistics import median
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.assembly import ModelSpec, build_core
from engine.clock import VirtualClock
from engine.log import EventLog
from engine.request import Request, SamplingParams
from engine.settings import EngineSettings
from tuiapp.explain import LifeReader
from tuiapp.view.rewind import Rewind
from tuiapp.view.viewmodel import ViewModel

NUM_EVENTS = 600_000  # more than a log keeps
POLL_PASSES = 20


def fill(num_slots: int) -> tuple[EventLog, Rewind, float]:
    """Run an engine until its log is full, read as it grows; return the seconds of reading too."""
    settings = EngineSettings(max_num_seqs=num_slots, num_kv_blocks=num_slots * 32)
    core = build_core(ModelSpec(device="sim:linear"), settings, VirtualClock(), EventLog())
    rewind, number, reading = Rewind(core.log, ViewModel(core.log)), 0, 0.0
    while len(core.log) < NUM_EVENTS:
        while len(core.queues.waiting) < num_slots:
            lengths = random.Random(number)
            prompt = (1,) * lengths.randint(10, 300)
            sampling = SamplingParams(max_tokens=lengths.randint(5, 200))
            core.add(Request(f"r{number}", prompt, sampling, core.clock.now()))
            number += 1
        for _ in range(POLL_PASSES):
            core.step()
        began = process_time()
        rewind.poll(core.clock.now())
        reading += process_time() - began
    return core.log, rewind, reading


def timed(rewind: Rewind, numbers: list[int]) -> list[float]:
    """Milliseconds to show each of these passes in turn."""
    costs = []
    for number in numbers:
        began = process_time()
        rewind.go(number)
        costs.append((process_time() - began) * 1000)
    return costs


def main() -> None:
    num_slots = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    log, rewind, reading = fill(num_slots)
    passes = range(rewind.oldest, rewind.newest + 1)
    print(f"{num_slots} slots, load {os.getloadavg()[0]:.1f}: passes {passes[0]} to {passes[-1]}")
    print(f"reading as it grows: {reading / len(log) * 1e6:.2f} us an event")
    jumps = timed(rewind, random.Random(1).sample(passes, 60))
    print(f"a jump: median {median(jumps):.1f} ms, worst {max(jumps):.1f} ms")
    back = timed(rewind, list(passes[-1:-60:-1]))
    print(f"a pass back: median {median(back):.1f} ms; ", end="")
    forth = timed(rewind, list(passes[-60:]))
    print(f"a pass on: median {median(forth):.1f} ms")
    rewind.follow()
    began = process_time()
    life = LifeReader(log, rewind.request_ids[-num_slots * 3]).read(0.0)
    assert life
    print(f"one life out of a full log: {(process_time() - began) * 1000:.0f} ms")
    weigh(num_slots)


def weigh(num_slots: int) -> None:
    """What is freed when the copies go, which share much with each other."""
    tracemalloc.start()
    _, rewind, _ = fill(num_slots)
    before, _ = tracemalloc.get_traced_memory()
    count = len(rewind._copies)
    rewind._copies.clear()
    after, _ = tracemalloc.get_traced_memory()
    print(f"{count} copies: {(before - after) / 2**20:.1f} MiB, the log {after / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
