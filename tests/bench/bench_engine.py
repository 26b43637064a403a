"""The engine's throughput on the shipped model, beside transformers' own two ways to batch.

`python tests/bench/bench_engine.py` serves the same 64 requests, all there at once, with eight
slots and one thread: by this engine's continuous batching, by `generate` in left-padded batches
of eight that run to their longest output, and by transformers' continuous batching. The three
take turns; what counts are the medians of the rounds, and the ratios round by round.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM, ContinuousBatchingConfig, GenerationConfig
from transformers.utils import logging

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.assembly import ModelSpec, build_core
from engine.clock import WallClock
from engine.events import Token
from engine.log import EventLog
from engine.prompts import PromptMaker
from engine.request import Request, SamplingParams
from engine.run import run
from engine.runners.sources import find_source
from engine.settings import EngineSettings
from engine.workload import Listed

NUM_REQUESTS, NUM_SLOTS, NUM_BATCHED_TOKENS = 64, 8, 512
PROMPT_TOKENS, OUTPUT_TOKENS = (16, 256), (5, 200)
ENGINE, STATIC, CONTINUOUS = "this engine", "generate", "generate_batch"


@dataclass(frozen=True)
class Rate:
    """Output tokens a second."""

    per_cpu_second: float
    per_second: float


def make_requests() -> list[Request]:
    core = build_core(ModelSpec(device="cpu"), EngineSettings(), WallClock(), EventLog())
    prompts, rng = PromptMaker(core.tokenizer), np.random.default_rng(0)
    return [
        Request(
            f"b{number}",
            tuple(prompts.make(int(rng.integers(*PROMPT_TOKENS, endpoint=True)), rng)),
            SamplingParams(
                max_tokens=int(rng.integers(*OUTPUT_TOKENS, endpoint=True)), ignore_eos=True
            ),
        )
        for number in range(NUM_REQUESTS)
    ]


def load_reference():
    source = find_source("tiny")
    model = AutoModelForCausalLM.from_pretrained(
        source.place, dtype=torch.float32, attn_implementation="sdpa", **source.options
    ).eval()
    model.generation_config.eos_token_id = None  # what a call leaves open is taken from here
    return model


def serve_by_engine(requests: list[Request]) -> Callable[[], int]:
    log = EventLog()
    settings = EngineSettings(
        max_num_seqs=NUM_SLOTS,
        max_num_batched_tokens=NUM_BATCHED_TOKENS,
        long_prefill_token_threshold=0,
    )
    core = build_core(ModelSpec(device="cpu"), settings, WallClock(), log)

    numbers = itertools.count()

    def serve() -> int:
        number, position = next(numbers), len(log)
        run(core, Listed(replace(request, id=f"{request.id}-{number}") for request in requests))
        return sum(isinstance(event, Token) for event in log.since(position)[0])

    return serve


def serve_by_generate(requests: list[Request]) -> Callable[[], int]:
    model = load_reference()

    def serve() -> int:
        return sum(
            generate_batch_of(model, requests[at : at + NUM_SLOTS])
            for at in range(0, len(requests), NUM_SLOTS)
        )

    return serve


def generate_batch_of(model, batch: list[Request]) -> int:
    """Run one padded batch to its longest output; count what was asked for."""
    width = max(len(request.prompt_token_ids) for request in batch)
    ids = torch.zeros((len(batch), width), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, request in enumerate(batch):
        prompt = torch.tensor(request.prompt_token_ids)
        ids[row, width - len(prompt) :] = prompt
        mask[row, width - len(prompt) :] = 1
    longest = max(request.sampling.max_tokens for request in batch)
    with torch.inference_mode():
        output = model.generate(
            ids,
            attention_mask=mask,
            generation_config=GenerationConfig(
                max_new_tokens=longest, do_sample=False, pad_token_id=0, eos_token_id=None
            ),
        )
    assert output.shape[1] == width + longest
    return sum(request.sampling.max_tokens for request in batch)


def serve_by_generate_batch(requests: list[Request], page_size: int) -> Callable[[], int]:
    model = load_reference()
    config = ContinuousBatchingConfig(
        page_size=page_size,
        num_blocks=NUM_SLOTS * 512 // page_size,
        max_batch_tokens=NUM_BATCHED_TOKENS,
        max_requests_per_batch=NUM_SLOTS,
        allow_block_sharing=False,  # no prompt is the start of another
        use_cuda_graph=False,
        use_async_batching=False,
    )
    generation = GenerationConfig(do_sample=False, pad_token_id=0, eos_token_id=None)

    def serve() -> int:
        with model.continuous_batching_context_manager(
            generation_config=generation, continuous_batching_config=config, warmup=False
        ) as manager:
            for request in requests:
                manager.add_request(
                    list(request.prompt_token_ids),
                    request_id=request.id,
                    max_new_tokens=request.sampling.max_tokens,
                    eos_token_id=-1,
                )
            return sum(len(manager.get_result().generated_tokens) for _ in requests)

    return serve


def measure(serve: Callable[[], int], expected: int) -> Rate:
    began, began_cpu = time.perf_counter(), time.process_time()
    num_tokens = serve()
    assert num_tokens == expected, f"{num_tokens} output tokens in place of {expected}"
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
    return Rate(num_tokens / cpu_seconds, num_tokens / seconds)


def print_table(rounds: list[dict[str, Rate]]) -> None:
    print(f"{'':16}{'tok/CPU-s':>12}{'tok/s':>12}{'engine is, per CPU-s':>24}{'per s':>10}")
    for name in rounds[0]:
        rates = [done[name] for done in rounds]
        cpu = statistics.median(rate.per_cpu_second for rate in rates)
        wall = statistics.median(rate.per_second for rate in rates)
        cpu_ratio = ratio(rounds, name, lambda rate: rate.per_cpu_second)
        wall_ratio = ratio(rounds, name, lambda rate: rate.per_second)
        print(f"{name:16}{cpu:>12.0f}{wall:>12.0f}{cpu_ratio:>23.2f}x{wall_ratio:>9.2f}x")


def ratio(rounds: list[dict[str, Rate]], name: str, of: Callable[[Rate], float]) -> float:
    """How many times the rate of `name` this engine reached, in the median round."""
    return statistics.median(of(done[ENGINE]) / of(done[name]) for done in rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description="Throughput beside transformers' own batching.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=NUM_REQUESTS)
    parser.add_argument("--page-size", type=int, default=256, help="of generate_batch's cache")
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    requests = make_requests()[: options.requests]
    contenders = {
        ENGINE: serve_by_engine(requests),
        STATIC: serve_by_generate(requests),
        CONTINUOUS: serve_by_generate_batch(requests, options.page_size),
    }
    num_prompt = sum(len(request.prompt_token_ids) for request in requests)
    num_output = sum(request.sampling.max_tokens for request in requests)
    rounds = [
        {name: measure(serve, num_output) for name, serve in contenders.items()}
        for _ in range(options.rounds + 1)
    ][1:]  # the first one allocates
    print(f"{len(requests)} requests, {num_prompt} prompt and {num_output} output tokens")
    print_table(rounds)


if __name__ == "__main__":
    main()
