"""`TorchRunner`: runs a causal language model of transformers over a paged KV cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from transformers import PreTrainedModel

from engine.plan import Launch, PassTiming, Plan, RunnerError
from engine.runners.attention import PagedAttention
from engine.runners.fetching import Fetched, Fetcher
from engine.runners.fields import NOWHERE, Shape
from engine.runners.fill import fill
from engine.runners.forward import Forward
from engine.runners.kv_cache import KvCache
from engine.runners.pack import Packed, pack
from engine.runners.pass_timer import PassTimer
from engine.runners.samples import Samples
from engine.runners.sampling import choose_draw, sample, widths_for
from engine.runners.slots import SlotTable
from engine.runners.staging import Staging


class TorchRunner:
    """Packs the rows of a plan into one sequence of tokens, [1, T], and runs the model on it.

    A pass may be launched before the result of the last one was taken; tokens that it still has
    to sample are then taken over on the device. The result of a pass has to be taken before the
    second launch after it.

    Args:
        attention: what the model calls in every layer; it holds the cache, none to begin with.
        eos_token_ids: of the model; never sampled where an output must not end.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        attention: PagedAttention,
        eos_token_ids: frozenset[int],
    ) -> None:
        self.model = model
        self.attention = attention
        self._device = model.device
        self._eos_token_ids = eos_token_ids
        self._forward = Forward(model)
        self._staging = Staging(self._device)
        self._samples = Samples(self._device)
        self._fetcher = Fetcher(self._device)
        self._cache: KvCache | None = None
        self._slots = SlotTable(1, 0)

    def launch(self, plan: Plan) -> Launch:
        with device_failures(plan), torch.inference_mode():
            timer = PassTimer(self._device)
            self._follow_cache()
            packed = pack(plan, self._slots)
            tokens = self._run(packed, timer)
            self._samples.attribute(packed.sampling)
            timer.sampled()
            return Sampled(plan, self._fetcher.fetch(tokens), self._forward.vocab_size, timer)

    def resize(self, num_blocks: int, block_size: int) -> None:
        self.attention.resize(num_blocks, block_size)

    def _follow_cache(self) -> None:
        """Forget all block ids where the cache is another one than in the last pass."""
        cache = self.attention.cache
        if cache is not self._cache:
            self._cache = cache
            self._slots = SlotTable(cache.block_size, cache.num_blocks, self._eos_token_ids)

    def _run(self, packed: Packed, timer: PassTimer) -> torch.Tensor:
        """Run the model on a pass of any kind and sample, [R]."""
        draw, largest_k = choose_draw(packed, self._slots)
        shape = Shape(packed.num_tokens, len(packed.sampling), packed.num_ruled_out)
        host = self._staging.open(shape)
        fill(host, packed, self._slots, self._samples.take_sources(), draw)
        has_pending = bool(np.any(host.sources != NOWHERE))
        fields = self._staging.send(shape)
        self.attention.begin(packed.spans(), fields.write_slots)
        timer.prepared()
        token_ids = self._samples.resolve(fields) if has_pending else fields.token_ids
        logits = self._forward(token_ids, fields.positions, fields.sample_at)
        timer.called()
        widths = widths_for(largest_k) if self._device.type == "cpu" else ()
        tokens = sample(logits, fields, draw, widths)
        self._samples.keep(tokens)
        return tokens


class Sampled:
    """A pass whose tokens may still be on their way from the device."""

    mode = ""

    def __init__(self, plan: Plan, fetched: Fetched, vocab_size: int, timer: PassTimer) -> None:
        self._plan = plan
        self._fetched = fetched
        self._vocab_size = vocab_size
        self._timer = timer

    @property
    def timing(self) -> PassTiming:
        return self._timer.read()

    def result(self) -> list[int]:
        with device_failures(self._plan):
            token_ids = self._fetched.wait()
        if any(token_id >= self._vocab_size for token_id in token_ids):
            raise RunnerError("the model's logits are not numbers; try --dtype float32")
        return token_ids


@contextmanager
def device_failures(plan: Plan) -> Iterator[None]:
    """Turn what torch raises in a pass into the engine's own error.

    Raises:
        RunnerError: the device failed or its memory ran out.
    """
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise RunnerError(
            f"out of device memory in a pass of {plan.num_slots} tokens; fewer sequences, a "
            "smaller token budget or fewer KV blocks would leave room"
        ) from error
    except (RuntimeError, IndexError, ValueError) as error:
        raise RunnerError(f"a pass of {plan.num_slots} tokens failed: {error}") from error
