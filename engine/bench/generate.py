"""transformers' two ways to batch: `generate`, and its own continuous batching."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields
from logging import ERROR, getLogger
from typing import Any

import torch
from transformers import ContinuousBatchingConfig, GenerationConfig, PreTrainedModel

from engine.bench.traffic import Traffic
from engine.request import Request
from engine.runners.device import choose_device
from engine.runners.loading.load import load_model
from engine.runners.loading.precision import choose_precision
from engine.runners.parts import ModelSpec

PAGE_SIZE = 256


class Generate:
    """`generate` in left-padded batches, each run to its longest output."""

    name = "generate"

    def __init__(self, model: PreTrainedModel, requests: Sequence[Request], num_slots: int) -> None:
        self._model = _endless(model)
        self._requests = requests
        self._num_slots = num_slots

    def serve(self) -> int:
        batches = range(0, len(self._requests), self._num_slots)
        return sum(self._run(self._requests[at : at + self._num_slots]) for at in batches)

    def cpu_seconds(self) -> float:
        return time.process_time()

    def _run(self, batch: Sequence[Request]) -> int:
        """Run one batch; count what was asked for, not what the longest makes of the others."""
        width = max(len(request.prompt_token_ids) for request in batch)
        ids = torch.zeros((len(batch), width), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, request in enumerate(batch):
            prompt = torch.tensor(request.prompt_token_ids)
            ids[row, width - len(prompt) :] = prompt
            mask[row, width - len(prompt) :] = 1
        longest = max(request.sampling.max_tokens for request in batch)
        device = self._model.device
        with torch.inference_mode():
            output = self._model.generate(  # type: ignore[operator]
                ids.to(device),
                attention_mask=mask.to(device),
                generation_config=_greedy(max_new_tokens=longest),
            )
        num_new = int(output.shape[1]) - width
        return sum(min(num_new, request.sampling.max_tokens) for request in batch)


class GenerateBatch:
    """transformers' continuous batching, on a paged cache of its own."""

    name = "generate_batch"

    def __init__(
        self, model: PreTrainedModel, requests: Sequence[Request], traffic: Traffic
    ) -> None:
        self._model = _endless(model)
        self._requests = requests
        getLogger("ContinuousBatchingLogger").setLevel(ERROR)  # it warns of what is meant
        is_cuda = model.device.type == "cuda"
        pages = -(-traffic.longest // PAGE_SIZE)
        self._config = configure_paging(
            num_blocks=traffic.num_slots * max(2, pages),
            max_batch_tokens=traffic.num_batched_tokens,
            max_requests_per_batch=traffic.num_slots,
            allow_block_sharing=False,  # no prompt is the start of another
            use_cuda_graph=is_cuda,
            use_async_batching=is_cuda,
        )

    def serve(self) -> int:
        with self._model.continuous_batching_context_manager(  # type: ignore[operator]
            generation_config=_greedy(),
            continuous_batching_config=self._config,
            warmup=False,
        ) as manager:
            for request in self._requests:
                manager.add_request(
                    list(request.prompt_token_ids),
                    request_id=request.id,
                    max_new_tokens=request.sampling.max_tokens,
                    eos_token_id=-1,
                )
            return sum(len(manager.get_result().generated_tokens) for _ in self._requests)

    def cpu_seconds(self) -> float:
        return time.process_time()


def configure_paging(**options: Any) -> ContinuousBatchingConfig:
    """Settings of its cache, in pages of one size; transformers 5.17 calls them blocks."""
    names = {field.name for field in fields(ContinuousBatchingConfig)}
    name = "page_size" if "page_size" in names else "block_size"
    return ContinuousBatchingConfig(**{name: PAGE_SIZE, **options})


def load_reference(spec: ModelSpec) -> PreTrainedModel:
    """The same model on the same device, as transformers itself runs it.

    Raises:
        ConfigError: there is no such model or device.
    """
    device = choose_device(spec.device)
    dtype = choose_precision(spec, device)
    return load_model(spec.model, device, dtype, spec.load_format).model


def _greedy(**options: Any) -> GenerationConfig:
    return GenerationConfig(  # type: ignore[no-untyped-call]
        do_sample=False, pad_token_id=0, eos_token_id=None, **options
    )


def _endless(model: PreTrainedModel) -> PreTrainedModel:
    """A model whose answers end at their length alone; what a call leaves open it takes there."""
    if model.generation_config is not None:
        model.generation_config.eos_token_id = None
    return model
