"""Attend once before anybody waits for it: `rehearse`.

A kernel is compiled at its first use, which takes seconds that would stall the first passes, and
fails where a compiler is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.backend import AttentionBackend, WritingBackend
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import KvCache, LayerShape

# A row of one token; and beside it a chunk: what decoding passes and all others compile.
DECODE = [Span(0, 1, 0, 1, [0])]
MIXED = [Span(0, 1, 0, 1, [0]), Span(1, 2, 0, 1, [0])]


@dataclass(frozen=True, slots=True)
class LayerCall:
    """How a layer called its attention."""

    shape: LayerShape
    num_heads: int
    options: AttentionOptions


def rehearse(backend: AttentionBackend, calls: dict[int, LayerCall], cache: KvCache) -> None:
    """Write and attend for each layer, with zeros, in a pass of each kind; wait until it is done.

    Args:
        calls: by the layer's index in the model.
    """
    with torch.inference_mode():
        for spans in (DECODE, MIXED):
            backend.begin(spans)
            for layer, call in calls.items():
                query, key, value = _zeros(call, spans, cache.layers[layer].entries)
                if isinstance(backend, WritingBackend):
                    slots = torch.full(key.shape[:1], cache.scratch_slot, device=key.device)
                    backend.write(cache.layers[layer], slots, key, value)
                output = backend.attend(query, key, value, cache.layers[layer], call.options)
                output.cpu()  # waits, so that a failure shows here


def _zeros(
    call: LayerCall, spans: list[Span], like: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Query, key and value of a pass, with heads before tokens in memory, as from transformers."""
    num_tokens = spans[-1].start + spans[-1].num_tokens
    shape = call.shape
    return (
        like.new_zeros(call.num_heads, num_tokens, shape.key_dim).transpose(0, 1),
        like.new_zeros(shape.num_kv_heads, num_tokens, shape.key_dim).transpose(0, 1),
        like.new_zeros(shape.num_kv_heads, num_tokens, shape.value_dim).transpose(0, 1),
    )
