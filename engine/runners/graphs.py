"""`DecodeGraphs`: passes that only decode, recorded once for each size and then replayed.

transformers issues some hundred small kernels a layer, and launching them one by one takes longer
than the device needs for them. A graph launches all of them in one call, but on tensors of fixed
size in fixed places: a pass is padded to the next size that there is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from engine.request import Sequence
from engine.runners.attention.attention_batch import DecodeBatch
from engine.runners.attention.paged_attention import PagedAttention
from engine.runners.capture import Capture, Run
from engine.runners.first_line import first_line
from engine.runners.forward import Forward
from engine.runners.inputs.fields import Shape, num_bytes
from engine.runners.inputs.fill import fill
from engine.runners.inputs.pack import EMPTY, Packed
from engine.runners.inputs.samples import Samples
from engine.runners.inputs.slots import SlotTable
from engine.runners.inputs.staging import Staging
from engine.runners.kv_cache import KvCache
from engine.runners.sampling.sample import Draw, sample

SIZES = (1, 2, 4, *range(8, 513, 8))  # rows, as vLLM has them
NUM_RULED_OUT = 8  # ids of a row that a graph can mask
LEAST_BLOCKS = 16  # columns of the block tables where attention reads all of them
CAPTURE_ERRORS = (RuntimeError, ValueError, TypeError, AttributeError, LookupError, AssertionError)


@dataclass(frozen=True, slots=True)
class Bucket:
    """What one graph can hold: so many rows, so many blocks of each, so demanding samples."""

    num_rows: int
    num_blocks: int
    draw: Draw

    @property
    def shape(self) -> Shape:
        return Shape(self.num_rows, self.num_rows, NUM_RULED_OUT, self.num_blocks)


class DecodeGraphs:
    """Finds the graph that a pass fits in, and records those that there are not yet.

    Args:
        max_model_len: tokens of a sequence at most.

    Attributes:
        failure: why no graph can be recorded; empty where they can.
    """

    def __init__(
        self,
        capture: Capture,
        forward: Forward,
        attention: PagedAttention,
        samples: Samples,
        max_model_len: int,
    ) -> None:
        self.failure = ""
        self._capture = capture
        self._forward = forward
        self._attention = attention
        self._samples = samples
        self._max_model_len = max_model_len
        self._graphs: dict[Bucket, Graph] = {}
        self._built_on: tuple[KvCache, int] | None = None

    def prepare(self, num_rows: int, slots: SlotTable) -> str:
        """Record the graphs of passes with up to so many rows, the largest first.

        The memory of a large graph then serves the smaller ones too.

        Returns:
            What there is, or why there is nothing, in words.
        """
        self._follow_memory()
        if not self._attention.is_capturable:
            return f"off: {self._attention.name} cannot be captured"
        largest = bisect_left(SIZES, min(num_rows, SIZES[-1]))
        for size in reversed(SIZES[: largest + 1]):
            graph, _ = self._find(Bucket(size, self._num_blocks(1), Draw.GREEDY), slots)
            if graph is None:
                return f"off: {self.failure}"
        return f"decoding by up to {SIZES[largest]} rows"

    def find(self, packed: Packed, draw: Draw, slots: SlotTable) -> tuple[Graph | None, str]:
        """The graph for a pass, recorded now if need be.

        Returns:
            The graph, or None where the pass has to run without; and which one or why, in words.
        """
        self._follow_memory()
        if reason := self._misfit(packed):
            return None, f"eager: {reason}"
        size = SIZES[bisect_left(SIZES, len(packed.rows))]
        longest = max(row.seq.num_computed + row.num_tokens for row in packed.rows)
        graph, is_new = self._find(Bucket(size, self._num_blocks(longest), draw), slots)
        if graph is None:
            return None, f"eager: {self.failure}"
        return graph, f"graph {size}" + (", recorded now" if is_new else "")

    def _follow_memory(self) -> None:
        """Drop all graphs where they would read and write memory that was given back."""
        built_on = self._attention.cache, self._samples.capacity
        if built_on != self._built_on:
            self._graphs.clear()
            self._built_on, self.failure = built_on, ""

    def _misfit(self, packed: Packed) -> str:
        """Why a pass does not fit in any graph, or nothing."""
        if self.failure:
            return self.failure
        if not self._attention.is_capturable:
            return f"{self._attention.name} cannot be captured"
        if not packed.is_single:
            return "prefill"
        if len(packed.rows) > SIZES[-1]:
            return f"{len(packed.rows)} rows, and graphs hold {SIZES[-1]}"
        if packed.num_ruled_out > NUM_RULED_OUT:
            return f"{packed.num_ruled_out} ids to rule out, and graphs hold {NUM_RULED_OUT}"
        return ""

    def _find(self, bucket: Bucket, slots: SlotTable) -> tuple[Graph | None, bool]:
        """The graph of a bucket, None where recording failed; and whether it is new."""
        if graph := self._graphs.get(bucket):
            return graph, False
        try:
            with self._samples.held():
                graph = self._record(bucket, slots)
        except CAPTURE_ERRORS as error:
            self._graphs.clear()
            self.failure = f"recording a graph failed: {first_line(error)}"
            return None, False
        self._graphs[bucket] = graph
        return graph, True

    def _record(self, bucket: Bucket, slots: SlotTable) -> Graph:
        """Record a pass of nothing but padding."""
        inputs = Staging(self._attention.device, num_bytes(bucket.shape))
        fill(inputs.open(bucket.shape), EMPTY, slots, {}, bucket.draw)
        fields = inputs.send(bucket.shape)
        starts = torch.arange(bucket.num_rows + 1, device=fields.kv_lens.device)
        batch = DecodeBatch(fields.block_tables, fields.kv_lens, starts.int())

        def run() -> torch.Tensor:
            self._attention.begin_decode(batch, fields.write_slots)
            token_ids = self._samples.resolve(fields)
            logits = self._forward(token_ids, fields.positions, fields.sample_at)
            tokens = sample(logits, fields, bucket.draw)
            self._samples.keep(tokens)
            return tokens

        return Graph(bucket, inputs, batch, self._capture.capture(run))

    def _num_blocks(self, longest: int) -> int:
        """Columns of the block tables for contexts of up to so many tokens."""
        block_size = self._attention.block_size
        most = min(self._attention.cache.num_blocks, -(-self._max_model_len // block_size))
        if not self._attention.reads_padding:
            return most
        needed = -(-longest // block_size)
        return min(most, max(LEAST_BLOCKS, 1 << (needed - 1).bit_length()))


class Graph:
    """A recorded pass, with the memory that it reads its inputs from."""

    def __init__(self, bucket: Bucket, inputs: Staging, batch: DecodeBatch, replay: Run) -> None:
        self._bucket = bucket
        self._inputs = inputs
        self._batch = batch  # not all of it lies in the inputs, and a graph keeps nothing alive
        self._replay = replay

    def stage(self, packed: Packed, slots: SlotTable, sources: Mapping[Sequence, int]) -> None:
        """Bring the inputs of a pass to where the graph reads them."""
        shape = self._bucket.shape
        fill(self._inputs.open(shape), packed, slots, sources, self._bucket.draw)
        self._inputs.send(shape)

    def replay(self) -> torch.Tensor:
        """Run the pass; the tokens, padding behind them, last until the next replay."""
        return self._replay()
