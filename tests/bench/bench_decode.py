"""Tokens a second of decoding with random weights, by batch size.

`python tests/bench/bench_decode.py` runs a Llama of 1.2 billion weights in bfloat16 on the CUDA
device; with `--dry` a very small one on the CPU, to try the script. With `--split` it tells what a
step on the CPU is made of.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from transformers import PreTrainedConfig

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.plan import Plan, Row
from engine.request import Request, SamplingParams, Sequence, Status
from engine.runners.build import build_parts
from engine.runners.parts import ModelSpec, Parts
from engine.settings import EngineSettings
from tests.bench.decode_split import split_step
from tests.bench.random_llama import save_random_llama
from tests.gpu.shapes import SHAPES, TINY

BLOCK_SIZE = 16
SPLIT = (
    ("tiny", "float32"),
    ("10m", "float32"),
    ("10m", "bfloat16"),
    ("135m", "float32"),
    ("135m", "bfloat16"),
)


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    config: PreTrainedConfig
    device: str
    num_context: int
    num_steps: int


FULL = Scale(SHAPES["1B"], "cuda", num_context=512, num_steps=50)
DRY = Scale(TINY, "cpu", num_context=32, num_steps=5)


def build(scale: Scale, largest_batch: int) -> Parts:
    num_tokens = scale.num_context + scale.num_steps + BLOCK_SIZE
    settings = EngineSettings(
        num_kv_blocks=largest_batch * -(-num_tokens // BLOCK_SIZE), block_size=BLOCK_SIZE
    )
    with TemporaryDirectory() as folder:
        scale.config.save_pretrained(folder)
        return build_parts(ModelSpec(folder, scale.device, load_format="dummy"), settings)


def make_seq(index: int, scale: Scale) -> Sequence:
    """A sequence whose prompt is computed but for its last token."""
    num_blocks = -(-(scale.num_context + scale.num_steps + BLOCK_SIZE) // BLOCK_SIZE)
    sampling = SamplingParams(max_tokens=scale.num_steps)
    seq = Sequence(Request(f"r{index}", (1,) * scale.num_context, sampling))
    seq.move_to(Status.RUNNING)
    seq.slot = index
    seq.block_table = list(range(index * num_blocks, (index + 1) * num_blocks))
    seq.num_computed = scale.num_context - 1
    return seq


def make_step(parts: Parts, scale: Scale, batch_size: int) -> Callable[[], None]:
    """A step that decodes a token of each of so many sequences."""
    seqs = [make_seq(index, scale) for index in range(batch_size)]

    def step() -> None:
        tokens = parts.runner.launch(Plan(tuple(Row(seq, 1) for seq in seqs))).result()
        for seq, token in zip(seqs, tokens, strict=True):
            seq.num_computed += 1
            seq.token_ids.append(token)

    return step


def seconds_a_step(parts: Parts, scale: Scale, batch_size: int) -> float:
    step, times = make_step(parts, scale, batch_size), []
    for _ in range(scale.num_steps):
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def print_split() -> None:
    """What a step of eight rows on the CPU is made of, for models of three sizes."""
    torch.set_num_threads(1)
    scale = Scale(TINY, "cpu", num_context=128, num_steps=20)
    settings = EngineSettings(num_kv_blocks=8 * 11, block_size=BLOCK_SIZE)
    print(
        f"{'8 rows, 128 tokens each':26}{'CPU ms a step':>14}{'linear':>9}{'attend':>9}{'rest':>9}"
    )
    with TemporaryDirectory() as folder:
        for name, dtype in SPLIT:
            place = name if name == "tiny" else str(save_random_llama(name, Path(folder)))
            parts = build_parts(ModelSpec(place, "cpu", dtype, num_threads=1), settings)
            whole, linears, attention = split_step(make_step(parts, scale, 8), scale.num_steps)
            rest = whole - linears - attention
            shares = "".join(f"{part / whole:>9.0%}" for part in (linears, attention, rest))
            print(f"{name + ' ' + dtype:26}{whole * 1e3:>14.2f}{shares}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Decode speed with random weights.")
    parser.add_argument("--dry", action="store_true", help="a small model on the CPU")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument(
        "--split", action="store_true", help="what a step on the CPU is made of, and nothing else"
    )
    options = parser.parse_args()
    if options.split:
        print_split()
        return
    scale = DRY if options.dry else FULL
    parts = build(scale, max(options.batch_sizes))
    info = parts.info
    print(
        f"{info.num_params / 1e6:.0f} M weights in {info.dtype} on {info.device}, "
        f"{info.attention}, {scale.num_context} tokens of context, torch {torch.__version__}"
    )
    print(f"{'batch':>6}{'ms a step':>12}{'tok/s':>10}")
    for batch_size in options.batch_sizes:
        seconds = seconds_a_step(parts, scale, batch_size)
        print(f"{batch_size:>6}{seconds * 1e3:>12.2f}{batch_size / seconds:>10.0f}")


if __name__ == "__main__":
    main()
