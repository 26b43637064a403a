"""Who serves the same requests on the same weights: this engine, `generate`, `generate_batch`."""

from __future__ import annotations

import itertools
import random
import statistics
import time
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig, PreTrainedModel

from engine.assembly import build_core
from engine.bench.generate import PAGE_SIZE, configure_paging
from engine.clock import WallClock
from engine.core import EngineCore
from engine.cost.weights import weight_bytes
from engine.events import Step, Token, Work
from engine.log import EventLog
from engine.request import Request, SamplingParams
from engine.run import run
from engine.runners.layers.layer import Layer
from engine.runners.loading.load import load_model
from engine.runners.parts import ModelSpec
from engine.runners.torch_runner import TorchRunner
from engine.settings import EngineSettings
from engine.workload import Listed
from tests.gpu.shapes import Scale

PATIENCE = 60.0  # seconds for a result
GREEDY = GenerationConfig(do_sample=False, pad_token_id=0, eos_token_id=None)


@dataclass(frozen=True)
class Speed:
    """How fast requests were served.

    Attributes:
        tokens_per_second: of output, over all.
        step: seconds from one full decoding pass to the next; 0 where that cannot be seen.
        num_context: tokens in the cache of each row in those passes, in the mean.
        device: seconds of such a pass on the device; 0 where that cannot be seen.
    """

    tokens_per_second: float
    step: float = 0.0
    num_context: float = 0.0
    device: float = 0.0


def make_requests(count: int, num_prompt: int, num_output: int) -> list[Request]:
    """Requests of one size, of random tokens."""
    rng = random.Random(count)
    return [make_request(f"r{n}", rng, num_prompt, num_output) for n in range(count)]


def make_mixed(count: int) -> list[Request]:
    """Requests of many sizes: mostly short outputs, some eight times as long."""
    rng = random.Random("mixed")
    sizes = [(rng.choice((8, 32, 128)), rng.choice((4, 8, 8, 64))) for _ in range(count)]
    return [make_request(f"m{n}", rng, *size) for n, size in enumerate(sizes)]


def make_request(name: str, rng: random.Random, num_prompt: int, num_output: int) -> Request:
    """One that is not over before it has all its tokens."""
    prompt = tuple(rng.randrange(2, 500) for _ in range(num_prompt))
    return Request(name, prompt, SamplingParams(max_tokens=num_output, ignore_eos=True))


class Engine:
    """This engine.

    Args:
        largest: requests at once at most.

    Attributes:
        num_replays: passes so far that were replayed from a graph.
    """

    def __init__(self, folder: Path, scale: Scale, largest: int, **knobs: Any) -> None:
        self.num_replays = 0
        self._numbers = itertools.count()
        settings = EngineSettings(
            max_num_seqs=largest,
            max_num_batched_tokens=max(8192, largest),
            long_prefill_token_threshold=0,
            max_batch_size=largest,
        )
        spec = ModelSpec(
            str(folder),
            scale.device,
            knobs.pop("dtype", scale.dtype),
            "dummy",
            kv_memory_gib=scale.kv_memory_gib,
            **knobs,
        )
        self.core: EngineCore = build_core(spec, settings, WallClock(), EventLog(capacity=None))

    @property
    def kv_bytes_per_token(self) -> int:
        return self.core.info.kv_bytes_per_token

    @property
    def weight_bytes(self) -> int:
        """What a decoding pass reads of the weights."""
        return weight_bytes(self.core.info)

    def describe(self) -> str:
        """How it runs the model, in a line."""
        info = self.core.info
        num_fused = sum(isinstance(part, Layer) for part in self._model.modules())
        words = [info.attention, f"{num_fused} layers fused", f"graphs: {info.graphs or 'none'}"]
        return "; ".join([*words, *([info.compilation] if info.compilation else [])])

    @property
    def _model(self) -> PreTrainedModel:
        assert isinstance(self.core.runner, TorchRunner)
        return self.core.runner.model

    def serve(self, requests: list[Request]) -> tuple[Speed, dict[str, list[int]]]:
        """Serve requests that come all at once; how fast, and what came out."""
        number, log = next(self._numbers), self.core.log
        position, began = len(log), time.perf_counter()
        renamed = [replace(request, id=f"{request.id} {number}") for request in requests]
        run(self.core, Listed(renamed))
        seconds = time.perf_counter() - began
        events, _ = log.since(position)
        outputs: dict[str, list[int]] = {request.id: [] for request in renamed}
        for event in events:
            if isinstance(event, Token):
                outputs[event.request_id].append(event.token_id)
        count = sum(map(len, outputs.values()))
        assert count == sum(request.sampling.max_tokens for request in requests)
        self.num_replays += sum(isinstance(e, Step) and e.mode.startswith("graph") for e in events)
        steps = [event for event in events if isinstance(event, Step) and is_full(event, requests)]
        gaps = [after.time - before.time for before, after in pairwise(steps)]
        contexts = [row.num_computed for step in steps for row in step.rows]
        by_name = {name.split()[0]: output for name, output in outputs.items()}
        step = statistics.median(gaps) if gaps else 0.0
        context = statistics.mean(contexts) if contexts else 0.0
        device = statistics.median(each.split.device for each in steps) if steps else 0.0
        return Speed(count / seconds, step, context, device), by_name


def is_full(step: Step, requests: list[Request]) -> bool:
    """Whether a pass decoded for all requests at once."""
    return len(step.rows) == len(requests) and all(row.work is Work.DECODE for row in step.rows)


def load_reference(folder: Path, scale: Scale) -> PreTrainedModel:
    """The same weights, as transformers itself runs them."""
    dtype = getattr(torch, scale.dtype)
    return load_model(str(folder), torch.device(scale.device), dtype, "dummy").model


def by_generate(model: PreTrainedModel, requests: list[Request]) -> Speed:
    """All requests, which are of one size, as one batch."""
    ids = torch.tensor([request.prompt_token_ids for request in requests], device=model.device)
    most = requests[0].sampling.max_tokens
    settings = GenerationConfig(**{**GREEDY.to_dict(), "max_new_tokens": most})
    for _ in ("warm-up", "timed"):
        began = time.perf_counter()
        with torch.inference_mode():
            output = model.generate(
                ids, attention_mask=torch.ones_like(ids), generation_config=settings
            )
        output.tolist()  # waits for the device
        seconds = time.perf_counter() - began
    return Speed(output[:, ids.shape[1] :].numel() / seconds)


def take_result(manager: Any) -> Any:
    """The next result.

    Raises:
        RuntimeError: none comes, for example because its thread has died.
    """
    result = manager.get_result(timeout=PATIENCE)
    if result is None:
        raise RuntimeError(f"generate_batch gave no result within {PATIENCE:.0f} s")
    return result


def by_generate_batch(model: PreTrainedModel, requests: list[Request]) -> Speed:
    """transformers' own continuous batching, as it comes, with a cache that holds them all.

    Its thread, its cache and its first graphs are there before the time is taken.
    """
    most = requests[0].sampling.max_tokens
    pages = -(-(len(requests[0].prompt_token_ids) + most) // PAGE_SIZE)
    cache = configure_paging(num_blocks=(len(requests) + 1) * pages, max_batch_tokens=8192)
    with model.continuous_batching_context_manager(
        generation_config=GREEDY, continuous_batching_config=cache, warmup=False
    ) as manager:
        seconds = 0.0
        for turn in ("warm-up", "timed"):
            began = time.perf_counter()
            for request in requests:
                manager.add_request(
                    list(request.prompt_token_ids),
                    request_id=f"{request.id} {turn}",
                    max_new_tokens=most,
                    eos_token_id=-1,
                )
            count = sum(len(take_result(manager).generated_tokens) for _ in requests)
            seconds = time.perf_counter() - began
    assert count == len(requests) * most
    return Speed(count / seconds)
