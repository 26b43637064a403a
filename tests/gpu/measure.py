"""How fast decoding is on the device, against the memory's bandwidth and against transformers.

`python tests/gpu/measure.py`; `--dry` tries the script on a CPU with very small models. The last
table says which bars are met. Exits with 1 where one is missed or was not measured, or a part
failed. What was measured goes to `$OUT/measured.json` too, where that folder is named.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch.profiler import ProfilerActivity

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.settings import BatcherName, Start
from tests.gpu.budget import Budget, forget
from tests.gpu.contenders import (
    Engine,
    by_generate,
    by_generate_batch,
    load_reference,
    make_mixed,
    make_requests,
)
from tests.gpu.findings import Findings, print_bars, print_speeds
from tests.gpu.shapes import DRY, FULL, LARGEST, Scale

COPY_BYTES = 2 * 2**30
NUM_COPIES = 10
NUM_KERNELS = 12  # of those that take longest
PROFILED = {
    "cuda": (ProfilerActivity.CUDA, attrgetter("self_device_time_total")),
    "cpu": (ProfilerActivity.CPU, attrgetter("self_cpu_time_total")),
}
PEERS = {"generate_batch": by_generate_batch, "generate": by_generate}


def measure_bandwidth(scale: Scale) -> float:
    """Bytes a second that a copy reads and writes."""
    size = COPY_BYTES if scale.device == "cuda" else COPY_BYTES // 64
    source = torch.zeros(size, dtype=torch.uint8, device=scale.device)
    target = torch.empty_like(source)
    seconds = []
    for _ in range(NUM_COPIES):
        began = time.perf_counter()
        target.copy_(source)
        if scale.device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    return 2 * size / min(seconds)


def compare_tokens(folder: Path, scale: Scale, found: Findings) -> None:
    """Whether graphs change no token in float32.

    Raises:
        RuntimeError: graphs ran where they should not, or did not where they should.
    """
    requests = make_requests(8, scale.num_prompt, scale.num_output)
    outputs = []
    for eager in (False, True):
        engine = Engine(folder, scale, 8, dtype="float32", enforce_eager=eager)
        outputs.append(engine.serve(requests)[1])
        has_graphs = scale.device == "cuda" and not eager
        if bool(engine.num_replays) is not has_graphs:
            raise RuntimeError(f"{engine.num_replays} passes by a graph; {engine.describe()}")
        found.num_replays += engine.num_replays
        del engine
        forget()
    found.is_same = outputs[0] == outputs[1]


def measure_engine(
    who: str, name: str, folder: Path, scale: Scale, found: Findings, **knobs: Any
) -> None:
    began = time.perf_counter()
    engine = Engine(folder, scale, max(scale.batch_sizes), **knobs)
    print(f"    {name} {who}, ready in {time.perf_counter() - began:.0f} s: {engine.describe()}")
    for size in scale.batch_sizes:
        requests = make_requests(size, scale.num_prompt, scale.num_output)
        engine.serve(requests)  # what is recorded or compiled at first is not measured
        speed, _ = engine.serve(requests)
        num_bytes = engine.weight_bytes + size * speed.num_context * engine.kv_bytes_per_token
        found.roofs[name, size] = num_bytes / found.bandwidth
        found.note(name, who, size, speed)
    if not knobs:
        measure_batchers(name, engine, scale, found)


def measure_batchers(name: str, engine: Engine, scale: Scale, found: Findings) -> None:
    """The mixed workload, by each batching policy on eight slots."""
    requests, settings = make_mixed(scale.num_mixed), engine.core.settings
    for batcher in BatcherName:
        changed = replace(
            settings, batcher=batcher, max_num_seqs=8, max_batch_size=8, start=Start.IDLE
        )
        engine.core.configure(changed)
        engine.serve(requests[:8])
        found.note(name, batcher.value, 0, engine.serve(requests)[0])
    engine.core.configure(settings)


def print_kernels(folder: Path, scale: Scale, _: Findings) -> None:
    """Where the device spends a decoding pass of one row, the prompt's share in it left small.

    Raises:
        RuntimeError: it is not known.
    """
    engine, requests = Engine(folder, scale, 1), make_requests(1, 8, scale.num_output)
    engine.serve(requests)
    where, time_of = PROFILED[scale.device]
    with torch.profiler.profile(activities=[where]) as profile:
        engine.serve(requests)
    kernels = sorted(profile.key_averages(), key=time_of, reverse=True)
    if not kernels or not time_of(kernels[0]):
        raise RuntimeError("the profiler saw no kernel")
    print("    us and launches a token, by kernel:")
    for each in kernels[:NUM_KERNELS]:
        microseconds = time_of(each) / scale.num_output
        print(f"    {microseconds:8.1f} {each.count / scale.num_output:7.1f}  {each.key[:80]}")


def measure_peer(who: str, name: str, folder: Path, scale: Scale, found: Findings) -> None:
    model = load_reference(folder, scale)
    for size in scale.batch_sizes:
        requests = make_requests(size, scale.num_prompt, scale.num_output)
        found.note(name, who, size, PEERS[who](model, requests))


def measure(places: dict[str, Path], scale: Scale, found: Findings, budget: Budget) -> None:
    """All parts, what matters most first."""
    others = [name for name in places if name != LARGEST]

    def run(what: str, needs: str, work: Any, *more: Any, **knobs: Any) -> None:
        budget.run(what, scale.needs[needs], partial(work, *more, scale, found, **knobs))

    def run_compiled(names: list[str]) -> None:
        for name in [each for each in names if each in scale.compiled]:
            more = ("compiled", name, places[name])
            run(f"{name}: --compile", "compiled", measure_engine, *more, compiles=True)

    def run_peer(who: str) -> None:
        for name in (*others, LARGEST):
            run(f"{name}: {who}", "peer", measure_peer, who, name, places[name])

    run("tokens with and without graphs", "tokens", compare_tokens, places[others[0]])
    for name in (LARGEST, *others):
        run(f"{name}: engine", "engine", measure_engine, "engine", name, places[name])
    run_peer("generate_batch")
    run_compiled([LARGEST])
    run(f"{LARGEST}: kernels of a pass", "tokens", print_kernels, places[LARGEST])
    run_peer("generate")
    run_compiled(others)


@contextmanager
def folders(scale: Scale) -> Iterator[dict[str, Path]]:
    """A folder with the configuration of each model."""
    with TemporaryDirectory() as root:
        found = {name: Path(root) / name for name in scale.shapes}
        for name, config in scale.shapes.items():
            config.save_pretrained(found[name])
        yield found


def main() -> int:
    parser = argparse.ArgumentParser(description="Decoding on the device.")
    parser.add_argument("--dry", action="store_true", help="very small models on the CPU")
    parser.add_argument("--seconds", type=float, help="no part goes on for longer")
    options, _ = parser.parse_known_args()
    scale = DRY if options.dry else FULL
    if scale.device == "cpu":
        torch.set_num_threads(1)
    elif not torch.cuda.is_available():
        print("no CUDA device here; --dry tries the script on the CPU")
        return 2
    if not scale.compiled:
        print("no C++ compiler here, so that --compile is not tried")
    budget = Budget(options.seconds or scale.seconds)
    found = Findings(measure_bandwidth(scale))
    with folders(scale) as places:
        measure(places, scale, found, budget)
    print_speeds(scale, found)
    is_good = print_bars(scale, found)
    for text in budget.left_out:
        print(f"     left out: {text}")
    for text in budget.failures:
        print(f"       FAILED: {text}")
    if folder := os.environ.get("OUT"):
        found.save(Path(folder) / "measured.json")
    print(f"took {budget.elapsed:.0f} s")
    return 0 if (is_good or options.dry) and not budget.failures else 1


if __name__ == "__main__":
    raise SystemExit(main())
