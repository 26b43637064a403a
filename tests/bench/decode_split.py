"""What share of a decode step on the CPU is linear layers, attention and the rest.

Attention is with the cache that it writes and reads; the rest is norms, rotation, sampling and
whatever Python and torch's dispatch take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from engine.runners.attention.gather import GatherAttention
from engine.runners.kv_cache import LayerCache
from engine.runners.layers.packed_linear import PackedLinear
from engine.runners.native.attention import NativeAttention
from engine.runners.native.parts import Product

LINEARS = (
    (torch.nn.Linear, "forward"),
    (PackedLinear, "activate"),
    (PackedLinear, "add_to"),
    (PackedLinear, "multiply_with"),
    (Product, "run"),
)
ATTENTION = ((GatherAttention, "attend"), (NativeAttention, "attend"), (LayerCache, "write"))


class Stopwatch:
    """CPU seconds spent in some methods, whichever object they belong to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def watching(self, methods: tuple[tuple[type, str], ...]) -> Iterator[None]:
        originals = [getattr(kind, name) for kind, name in methods]
        for (kind, name), original in zip(methods, originals, strict=True):
            setattr(kind, name, self._timed(original))
        try:
            yield
        finally:
            for (kind, name), original in zip(methods, originals, strict=True):
                setattr(kind, name, original)

    def _timed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.thread_time()
            try:
                return original(*args, **kwargs)
            finally:
                self.seconds += time.thread_time() - began

        return timed


def split_step(step: Callable[[], object], num_steps: int) -> tuple[float, float, float]:
    """CPU seconds of a step, and of its linear layers and its attention: medians."""
    linears, attention = Stopwatch(), Stopwatch()
    times: list[tuple[float, float, float]] = []
    with linears.watching(LINEARS), attention.watching(ATTENTION):
        for _ in range(num_steps):
            linears.seconds = attention.seconds = 0.0
            began = time.thread_time()
            step()
            times.append((time.thread_time() - began, linears.seconds, attention.seconds))
    whole, of_linears, of_attention = (
        statistics.median(values) for values in zip(*times, strict=True)
    )
    return whole, of_linears, of_attention
