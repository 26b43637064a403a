"""How fast each way to attend is on the CUDA device, beside what its memory gives.

python -m tests.bench.bench_attention [--dry]; `--dry` tries it on a CPU, with tiny sizes.
One layer shaped as Llama 3.1 8B's, in bfloat16, its cache in blocks of 256 tokens, which every
way can read.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch

from engine.config import ConfigError
from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.choice import Demands, choose
from engine.runners.attention.ways import find_platform, make_backend
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import LayerCache, LayerShape

HEADS, BLOCK_SIZE, NUM_RUNS = 32, 256, 20
SHAPE = LayerShape(8, 128, 128, torch.bfloat16)
WAYS = ("triton", "triton-tuned", "varlen", "gather")
# Rows, tokens of each in the pass, tokens of each before it.
LOADS = [(1, 1, 8191), (1, 1, 65535), (8, 1, 2047), (64, 1, 2047), (256, 1, 1023), (1, 2048, 6144)]
DRY_LOADS = [(2, 1, 20), (1, 4, 9)]


def make_spans(num_rows: int, num_tokens: int, num_computed: int) -> list[Span]:
    kv_len = num_computed + num_tokens
    num_blocks = -(-kv_len // BLOCK_SIZE)
    return [
        Span(
            row * num_tokens,
            num_tokens,
            num_computed,
            kv_len,
            list(range(row * num_blocks, (row + 1) * num_blocks)),
        )
        for row in range(num_rows)
    ]


def seconds(run: Callable[[], object], device: torch.device) -> float:
    """The mean of some runs, launched one behind the other."""
    run()
    if device.type != "cuda":
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(NUM_RUNS):
        run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3 / NUM_RUNS


def time_way(way: str, load: tuple[int, int, int], device: torch.device) -> float:
    spans = make_spans(*load)
    num_tokens, num_blocks = load[0] * load[1], sum(len(span.block_table) for span in spans)
    cache = LayerCache(SHAPE, num_blocks, BLOCK_SIZE, device)
    cache.entries.normal_()
    backend = make_backend(way, BLOCK_SIZE, device)
    backend.begin(spans)
    like = {"dtype": SHAPE.dtype, "device": device}
    query = torch.randn(num_tokens, HEADS, SHAPE.key_dim, **like)
    key = torch.randn(num_tokens, SHAPE.num_kv_heads, SHAPE.key_dim, **like)
    options = AttentionOptions()
    return seconds(lambda: backend.attend(query, key, key, cache, options), device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dry", action="store_true", help="tiny sizes on the CPU")
    is_dry = parser.parse_args().dry
    device = torch.device("cpu" if is_dry else "cuda")
    demands = Demands(SHAPE.dtype, BLOCK_SIZE, frozenset({(128, 128)}), False, False)
    print(f"{'rows':>5}{'tokens':>7}{'before':>7}  {'way':<13}{'ms':>9}{'GB/s':>8}{'TFLOP/s':>9}")
    for load in DRY_LOADS if is_dry else LOADS:
        for way in WAYS:
            print("{:>5}{:>7}{:>7}  ".format(*load), end="")
            try:
                choose(way, find_platform(device), demands)
            except ConfigError as error:
                print(error)
                continue
            took = time_way(way, load, device)
            rows, tokens, before = load
            bytes_read = rows * (before + tokens) * SHAPE.bytes_per_token
            operations = 4 * HEADS * SHAPE.key_dim * rows * tokens * (before + tokens / 2)
            print(
                f"{way:<13}{took * 1e3:9.3f}{bytes_read / took / 1e9:8.0f}"
                f"{operations / took / 1e12:9.2f}"
            )


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    main()
