"""How fast decoding is on the device, against the memory's bandwidth and against transformers.

`python tests/gpu/measure.py`; `--dry` tries the script on a CPU with very small models. The last
table says which bars are met. Exits with 1 where one is missed.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.settings import BatcherName, Start
from tests.gpu.contenders import (
    Engine,
    Speed,
    by_generate,
    by_generate_batch,
    load_reference,
    make_mixed,
    make_requests,
)
from tests.gpu.shapes import DRY, FULL, Scale

COPY_BYTES = 2 * 2**30
NUM_COPIES = 10
HALF, MOST = 0.5, 0.7  # of the roofline, for batch 1 of the largest model: as is, and compiled
TWICE = 2.0  # times `generate_batch` at 64 requests, for the small models


@dataclass
class Findings:
    """What was measured, by model and by who served."""

    bandwidth: float
    speeds: dict[tuple[str, str, int], Speed] = field(default_factory=dict)
    roofs: dict[tuple[str, int], float] = field(default_factory=dict)
    is_same: bool | None = None
    left_out: list[str] = field(default_factory=list)


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


def measure_model(name: str, folder: Path, scale: Scale, found: Findings, deadline: float) -> None:
    """One model, by all who can serve it, each alone on the device."""
    measure_engine("engine", name, folder, scale, found)
    if time.monotonic() < deadline:
        measure_peers(name, folder, scale, found)
    else:
        found.left_out.append(f"{name}: generate and generate_batch, for want of time")
    if scale.compiles and time.monotonic() < deadline:
        measure_engine("compiled", name, folder, scale, found, compiles=True)
    elif scale.compiles:
        found.left_out.append(f"{name}: --compile, for want of time")


def measure_engine(
    who: str, name: str, folder: Path, scale: Scale, found: Findings, **knobs: bool
) -> None:
    engine = Engine(folder, scale, **knobs)
    info = engine.core.info
    print(f"{name} {who}: {info.attention}; graphs: {info.graphs or 'none'}", flush=True)
    width = torch.empty(0, dtype=getattr(torch, info.dtype)).itemsize
    for size in scale.batch_sizes:
        requests = make_requests(size, scale.num_prompt, scale.num_output)
        engine.serve(requests)  # what is recorded or compiled at first is not measured
        speed, _ = engine.serve(requests)
        found.speeds[name, who, size] = speed
        num_bytes = info.num_params * width + size * speed.num_context * info.kv_bytes_per_token
        found.roofs[name, size] = num_bytes / found.bandwidth
    if not knobs:
        measure_batchers(name, engine, scale, found)
    del engine
    forget()


def measure_batchers(name: str, engine: Engine, scale: Scale, found: Findings) -> None:
    """The mixed workload, by each batching policy on eight slots."""
    requests, settings = make_mixed(scale.num_mixed), engine.core.settings
    for batcher in BatcherName:
        changed = replace(
            settings, batcher=batcher, max_num_seqs=8, max_batch_size=8, start=Start.IDLE
        )
        engine.core.configure(changed)
        engine.serve(requests[:8])
        found.speeds[name, batcher.value, 0], _ = engine.serve(requests)


def measure_peers(name: str, folder: Path, scale: Scale, found: Findings) -> None:
    model = load_reference(folder, scale)
    peers: dict[str, Callable[..., Speed]] = {
        "generate": by_generate,
        "generate_batch": by_generate_batch,
    }
    for who, serve in peers.items():
        for size in scale.batch_sizes:
            requests = make_requests(size, scale.num_prompt, scale.num_output)
            try:
                found.speeds[name, who, size] = serve(model, requests)
            except (RuntimeError, ValueError, TypeError, AttributeError) as error:
                found.left_out.append(f"{name}: {who} of {size} failed: {error}"[:200])
    del model
    forget()


def compare_tokens(folder: Path, scale: Scale) -> bool:
    """Whether graphs change no token in float32."""
    requests = make_requests(8, scale.num_prompt, scale.num_output)
    outputs = []
    for eager in (False, True):
        engine = Engine(folder, scale, dtype="float32", enforce_eager=eager)
        outputs.append(engine.serve(requests)[1])
        del engine
        forget()
    return outputs[0] == outputs[1]


def forget() -> None:
    """Give memory back to the device."""
    if "torch._dynamo" in sys.modules:
        torch.compiler.reset()  # what was compiled holds the model
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


@contextmanager
def folders(scale: Scale) -> Iterator[dict[str, Path]]:
    """A folder with the configuration of each model."""
    with TemporaryDirectory() as root:
        found = {name: Path(root) / name for name in scale.shapes}
        for name, config in scale.shapes.items():
            config.save_pretrained(found[name])
        yield found


def print_speeds(scale: Scale, found: Findings) -> None:
    print(f"\nbandwidth of a copy: {found.bandwidth / 1e12:.2f} TB/s; tokens a second, output")
    whos = ("engine", "compiled", "generate", "generate_batch")
    print(
        f"{'model':>6}{'batch':>6}" + "".join(f"{who:>15}" for who in whos) + "  step ms (of roof)"
    )
    for name in scale.shapes:
        for size in scale.batch_sizes:
            cells = [found.speeds.get((name, who, size)) for who in whos]
            texts = [f"{cell.tokens_per_second:>15.0f}" if cell else f"{'-':>15}" for cell in cells]
            steps = [
                f"{cell.step * 1e3:.2f} ({found.roofs[name, size] / cell.step:.0%})"
                for cell in cells[:2]
                if cell and cell.step
            ]
            print(f"{name:>6}{size:>6}" + "".join(texts) + "  " + ", ".join(steps))
        mixed = [
            f"{b.value} {found.speeds[name, b.value, 0].tokens_per_second:.0f}" for b in BatcherName
        ]
        print(f"{name:>6} mixed, 8 slots: {', '.join(mixed)} tokens/s")


def bars(scale: Scale, found: Findings) -> Iterator[tuple[str, str, bool | None]]:
    """Each bar: what, how much, whether it is met; None where it was not measured."""
    yield "same tokens with and without graphs, float32", str(found.is_same), found.is_same
    largest = list(scale.shapes)[-1]
    for who, bar in (("engine", HALF), ("compiled", MOST)):
        speed = found.speeds.get((largest, who, 1))
        share = found.roofs[largest, 1] / speed.step if speed and speed.step else None
        text = "-" if share is None else f"{share:.0%}"
        yield f"{largest} {who}, batch 1: {bar:.0%} of the roofline", text, share and share >= bar
    for name in scale.shapes:
        for size in scale.batch_sizes:
            needed = TWICE if size == 64 and name != largest else 1.0
            ours = found.speeds[name, "engine", size].tokens_per_second
            theirs = found.speeds.get((name, "generate_batch", size))
            ratio = ours / theirs.tokens_per_second if theirs else None
            text = "-" if ratio is None else f"{ratio:.2f}x"
            yield (
                f"{name}, batch {size}: {needed:.0f}x generate_batch",
                text,
                ratio and ratio >= needed,
            )


def print_bars(scale: Scale, found: Findings) -> bool:
    """Print which bars are met; return whether none is missed."""
    print("\nbars" + (", which a CPU and such models mean nothing to" if scale is DRY else ""))
    is_good = True
    for what, measured, is_met in bars(scale, found):
        verdict = "not measured" if is_met is None else "pass" if is_met else "FAIL"
        print(f"{verdict:>13}  {measured:>8}  {what}")
        is_good &= is_met is None or bool(is_met)
    for text in found.left_out:
        print(f"     left out: {text}")
    return is_good


def main() -> int:
    parser = argparse.ArgumentParser(description="Decoding on the device.")
    parser.add_argument("--dry", action="store_true", help="very small models on the CPU")
    options, _ = parser.parse_known_args()
    scale = DRY if options.dry else FULL
    if scale.device == "cpu":
        torch.set_num_threads(1)
    deadline = time.monotonic() + scale.seconds
    found = Findings(measure_bandwidth(scale))
    with folders(scale) as places:
        found.is_same = compare_tokens(next(iter(places.values())), scale)
        for name, folder in places.items():
            measure_model(name, folder, scale, found, deadline)
    print_speeds(scale, found)
    is_good = print_bars(scale, found)
    return 0 if is_good or options.dry else 1


if __name__ == "__main__":
    raise SystemExit(main())
