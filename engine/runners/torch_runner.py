"""`TorchRunner`: runs a causal language model of transformers over a paged KV cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import numpy as np
import torch
from transformers import PreTrainedModel

from engine.plan import Launch, PassTiming, Plan, RunnerError
from engine.runners.attention.paged_attention import PagedAttention
from engine.runners.capture import Capture
from engine.runners.forward import Forward
from engine.runners.graphs import DecodeGraphs, Graph
from engine.runners.inputs.fetching import Fetched, Fetcher
from engine.runners.inputs.fields import NOWHERE, Shape
from engine.runners.inputs.fill import fill
from engine.runners.inputs.pack import EMPTY, Packed, Span, pack
from engine.runners.inputs.samples import Samples
from engine.runners.inputs.slots import SlotTable
from engine.runners.inputs.staging import Staging
from engine.runners.kv_cache import KvCache
from engine.runners.parallel.ranks import Ranks
from engine.runners.pass_timer import PassTimer
from engine.runners.sampling.sample import Draw, choose_draw, sample, widths_for

DEFAULT_MODEL_LEN = 8192


class TorchRunner:
    """Packs the rows of a plan into one sequence of tokens, [1, T], and runs the model on it.

    A pass may be launched before the result of the last one was taken; tokens that it still has
    to sample are then taken over on the device. The result of a pass has to be taken before the
    second launch after it.

    Args:
        attention: what the model calls in every layer; it holds the cache, none to begin with.
        eos_token_ids: of the model; never sampled where an output must not end.
        capture: records passes that only decode, to be replayed; None runs every kernel anew.
        max_model_len: tokens of a sequence at most.
        compiler: a backend of `torch.compile`; None runs the model as it is.
        ranks: the processes that share the model, of which this one leads; None has it alone.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        attention: PagedAttention,
        eos_token_ids: frozenset[int],
        capture: Capture | None = None,
        max_model_len: int = DEFAULT_MODEL_LEN,
        compiler: str | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        self.model = model
        self.attention = attention
        self.ranks = ranks
        self._device = model.device
        self._eos_token_ids = eos_token_ids
        if compiler:
            attention.hide_from_compiler()
        self._forward = Forward(model, compiler)
        self._staging = Staging(self._device)
        self._samples = Samples(self._device)
        self._fetcher = Fetcher(self._device, ranks.check if ranks else None)
        self._cache: KvCache | None = None
        self._slots = SlotTable(1, 0)
        self._graphs: DecodeGraphs | None = None
        if capture:
            self._graphs = DecodeGraphs(
                capture, self._forward, attention, self._samples, max_model_len
            )

    def prepare(self, num_rows: int) -> str:
        """Record the graphs for passes of up to so many decoding rows.

        Returns:
            What there is, or why there is nothing, in words; empty for a runner without graphs.
        """
        if self._graphs is None:
            return ""
        self._follow_cache()
        with torch.inference_mode():
            return self._graphs.prepare(num_rows, self._slots)

    def rehearse(self) -> None:
        """Run passes of nothing but padding, so that the model is compiled for one and for many.

        Raises:
            RuntimeError: it cannot be compiled.
        """
        self._follow_cache()
        with torch.inference_mode():
            for num_tokens in (1, 2, 3):
                shape = Shape(num_tokens, num_tokens)
                fill(self._staging.open(shape), EMPTY, self._slots, {}, Draw.GREEDY)
                fields = self._staging.send(shape)
                scratch = [self._slots.scratch_block]
                spans = [Span(start, 1, 0, 1, scratch) for start in range(num_tokens)]
                self.attention.begin(spans, fields.write_slots)
                self._forward(fields.token_ids, fields.positions, fields.sample_at)

    def launch(self, plan: Plan) -> Launch:
        with device_failures(plan), torch.inference_mode():
            timer = PassTimer(self._device)
            self._follow_cache()
            packed = pack(plan, self._slots)
            draw, largest_k = choose_draw(packed, self._slots)
            graph, mode = None, ""
            if self._graphs:
                graph, mode = self._graphs.find(packed, draw, self._slots)
            if graph:
                tokens = self._replay(graph, packed, timer)
            else:
                tokens = self._run(packed, draw, largest_k, timer)
            timer.sampled()
            self._samples.attribute(packed.sampling)
            fetched = self._fetcher.fetch(tokens[: len(packed.sampling)])
            return Sampled(plan, fetched, self._forward.vocab_size, timer, mode)

    def resize(self, num_blocks: int, block_size: int) -> None:
        self.attention.resize(num_blocks, block_size)

    def _follow_cache(self) -> None:
        """Forget all block ids where the cache is another one than in the last pass."""
        cache = self.attention.cache
        if cache is not self._cache:
            self._cache = cache
            self._slots = SlotTable(cache.block_size, cache.num_blocks, self._eos_token_ids)
            if self.ranks:
                self.ranks.share_cache(cache.num_blocks, cache.block_size)

    def _replay(self, graph: Graph, packed: Packed, timer: PassTimer) -> torch.Tensor:
        """Run a pass that only decodes as it was recorded; tokens with padding behind them."""
        graph.stage(packed, self._slots, self._samples.take_sources())
        timer.prepared()
        tokens = graph.replay()
        timer.called()
        return tokens

    def _run(self, packed: Packed, draw: Draw, largest_k: int, timer: PassTimer) -> torch.Tensor:
        """Run the model on a pass of any kind, kernel by kernel, and sample, [R]."""
        shape = Shape(packed.num_tokens, len(packed.sampling), packed.num_ruled_out)
        host = self._staging.open(shape)
        fill(host, packed, self._slots, self._samples.take_sources(), draw)
        has_pending = bool(np.any(host.sources != NOWHERE))
        fields = self._staging.send(shape)
        spans = packed.spans()
        self.attention.begin(spans, fields.write_slots)
        timer.prepared()
        token_ids = self._samples.resolve(fields) if has_pending else fields.token_ids
        ranks = self.ranks.sharing(spans, token_ids, fields) if self.ranks else nullcontext()
        with ranks:
            logits = self._forward(token_ids, fields.positions, fields.sample_at)
        timer.called()
        widths = widths_for(largest_k) if self._device.type == "cpu" else ()
        tokens = sample(logits, fields, draw, widths)
        self._samples.keep(tokens)
        return tokens


class Sampled:
    """A pass whose tokens may still be on their way from the device."""

    def __init__(
        self, plan: Plan, fetched: Fetched, vocab_size: int, timer: PassTimer, mode: str
    ) -> None:
        self.mode = mode
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
