"""A decoding pass beside its bandwidth floor: what it must read, as fast as memory delivers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from engine.core import EngineCore
from engine.cost.weights import weight_bytes
from engine.plan import Plan, Row
from engine.request import Request, SamplingParams, Status
from engine.request import Sequence as Seq
from engine.runners.peaks import pass_clock


@dataclass(frozen=True, slots=True)
class DecodePoint:
    """Passes of so many sequences.

    Attributes:
        num_context: tokens that each attends to.
        seconds: the median pass, scheduler and log left out; of CPU time on a CPU with one thread.
        floor: seconds to read the weights once, as `weight_bytes` has them, and every sequence's
            keys and values, at the bandwidth that was measured at start; 0 where that is not known.
    """

    batch_size: int
    num_context: int
    seconds: float
    floor: float


def measure_decode(
    core: EngineCore, batch_sizes: Sequence[int], num_context: int, num_passes: int
) -> list[DecodePoint]:
    """Time passes past the scheduler, in the blocks of an idle engine.

    Sizes that its cache does not hold are left out.

    Raises:
        RunnerError: a pass failed.
    """
    pool = core.queues.pool
    num_blocks = -(-(num_context + num_passes + 1) // pool.block_size)
    sizes = [size for size in batch_sizes if size * num_blocks <= pool.num_blocks]
    return [_measure(core, size, num_context, num_passes, num_blocks) for size in sizes]


def _measure(
    core: EngineCore, size: int, num_context: int, num_passes: int, num_blocks: int
) -> DecodePoint:
    seqs = [_begin(index, num_context, num_passes, num_blocks) for index in range(size)]
    info = core.info
    clock = pass_clock(info.device, info.num_threads)
    times = []
    for _ in range(num_passes):
        began = clock()
        token_ids = core.runner.launch(Plan(tuple(Row(seq, 1) for seq in seqs))).result()
        times.append(clock() - began)
        for seq, token_id in zip(seqs, token_ids, strict=True):
            seq.num_computed += 1
            seq.token_ids.append(token_id)
    num_bytes = (
        weight_bytes(info) + size * (num_context + num_passes // 2) * info.kv_bytes_per_token
    )
    floor = num_bytes / info.peak_bandwidth if info.peak_bandwidth else 0.0
    return DecodePoint(size, num_context, statistics.median(times), floor)


def _begin(index: int, num_context: int, num_passes: int, num_blocks: int) -> Seq:
    """A sequence whose prompt counts as computed but for its last token."""
    sampling = SamplingParams(max_tokens=num_passes, ignore_eos=True)
    seq = Seq(Request(f"d{index}", (1,) * num_context, sampling), slot=index, status=Status.RUNNING)
    seq.block_table = list(range(index * num_blocks, (index + 1) * num_blocks))
    seq.num_computed = num_context - 1
    return seq
