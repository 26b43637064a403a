"""`EngineSettings`: every knob of the engine, flat, in vLLM's words.

A preset's `[engine]` table, these fields and the knobs on the screen are the same list. Each
batcher takes from it the fields that carry the names of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MOST_BLOCKS = 10_000_000  # beyond what any device holds; the books of the pool take memory too
LEAST = {
    "max_num_seqs": 1,
    "max_num_batched_tokens": 1,
    "max_batch_size": 1,
    "max_queue_delay_ms": 0,
    "num_kv_blocks": 0,
    "block_size": 1,
    "reserve_tokens": 0,
    "max_model_len": 0,
    "max_long_partial_prefills": 0,
    "watermark": 0,
    "waiting_served_ratio": 0,
    "max_waiting_tokens": 1,
    "aging": 0,
    "max_queue_size": 0,
    "default_queue_timeout_ms": 0,
}
MOST_SLOTS = 4096  # beyond what any device batches; every slot has a row on the screen
MOST = {
    "max_num_seqs": MOST_SLOTS,
    "max_batch_size": MOST_SLOTS,
    "num_kv_blocks": MOST_BLOCKS,
    "watermark": 0.5,
}


class BatcherName(Enum):
    """The batching policies."""

    STATIC = "static"
    DYNAMIC = "dynamic"
    CONTINUOUS = "continuous"


class Start(Enum):
    """When a static batch starts."""

    FULL = "full"  # only with `max_batch_size` requests
    IDLE = "idle"  # with what is queued, as soon as the engine is idle


class Delivery(Enum):
    """When the client gets its tokens."""

    BATCH = "batch"  # all at once, when its batch ends
    STREAM = "stream"  # each as it comes


class KvPolicy(Enum):
    """How a sequence gets its KV memory."""

    PAGED = "paged"  # block by block, as it grows
    RESERVE = "reserve"  # the longest possible context, at admission


class SchedulingPolicy(Enum):
    """Who of the waiting comes first."""

    FCFS = "fcfs"  # who came first
    PRIORITY = "priority"  # the lowest number
    SJF_PROMPT = "sjf-prompt"  # the shortest prompt
    SJF_MAX_TOKENS = "sjf-max-tokens"  # the smallest `max_tokens`; how long it gets nobody knows


class PassOrder(Enum):
    """Who takes the token budget of a pass first."""

    DECODE_FIRST = "decode-first"  # so that no prompt stalls a decode
    PREFILL_FIRST = "prefill-first"  # so that first tokens come soon
    PREFILL_ALONE = "prefill-alone"  # and decodes pause while there are prompts to compute


class OnFull(Enum):
    """What happens when the KV cache is full."""

    PREEMPT_NEWEST = "preempt-newest"  # the last to be admitted makes room
    PREEMPT_LOWEST = "preempt-lowest"  # the last in line by `scheduling_policy` makes room
    NO_EVICT = "no-evict"  # it never is: admission leaves room for whole outputs


class TimeoutAction(Enum):
    """What happens to a request that waited too long."""

    REJECT = "reject"  # it is refused
    DELAY = "delay"  # it lets the others pass


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How the engine batches, delivers and holds memory.

    Attributes:
        max_num_seqs: running sequences at most (continuous).
        max_num_batched_tokens: tokens a forward pass at most (continuous).
        enable_chunked_prefill: cut prompts to what is left of that budget (continuous).
        long_prefill_token_threshold: tokens of one prompt in a pass at most; 0 sets no such
            limit, None fits it to the model (continuous).
        max_long_partial_prefills: prompts longer than that threshold which are computed at once
            at most, so that shorter ones can pass them; 0 sets no such limit (continuous).
        pass_order: who takes the token budget of a pass first (continuous).
        on_full: what happens when the KV cache is full (continuous).
        watermark: share of the KV blocks that admission leaves free, so that those who run do
            not push the newest out again (continuous).
        waiting_served_ratio: a prompt interrupts decodes only if so many wait, for each that
            runs; 0 lets every one of them (continuous).
        max_waiting_tokens: after so many passes without a new prompt, it need not (continuous).
        max_batch_size: requests a batch (static, dynamic).
        max_queue_delay_ms: the oldest request waits for company so long at most (dynamic).
        preferred_batch_size: sizes at which a batch starts at once, without waiting to get full
            (dynamic).
        start: whether a batch that is not full starts when the engine is idle (static).
        scheduling_policy: who of the waiting comes first.
        aging: what a second of waiting is worth, in levels of priority or in tokens of a shorter
            job; 0 lets others pass for ever. The delayed count as having come when they were.
        max_queue_size: who comes when so many wait already is refused; 0 refuses nobody.
        default_queue_timeout_ms: how long a request waits before `timeout_action`; 0 is for ever.
        timeout_action: what happens to a request that waited so long.
        num_kv_blocks: blocks in the cache; 0 sizes it to the model and the memory.
        block_size: tokens a block.
        kv_policy: grow block by block, or reserve the longest context at admission.
        reserve_tokens: what `reserve` takes, 0 for `max_model_len`.
        enable_prefix_caching: share the KV blocks of prompts that begin alike, and keep them
            while there is room. vLLM has it on; here it is off unless a preset is about it, since
            it makes prompts shorter than they look.
        max_model_len: prompt and output together at most; 0 for what the model allows.
        deliver: None takes what the batcher is known for: request-level batchers answer when
            the batch ends, continuous streams.
        ignore_eos: outputs always reach their `max_tokens`; None leaves it to the request.
        async_scheduling: plan a pass while the one before runs; None does so where the device
            works on its own, which is on CUDA.
    """

    batcher: BatcherName = BatcherName.CONTINUOUS
    max_num_seqs: int = 8
    max_num_batched_tokens: int = 512
    enable_chunked_prefill: bool = True
    long_prefill_token_threshold: int | None = None
    max_long_partial_prefills: int = 0
    pass_order: PassOrder = PassOrder.DECODE_FIRST
    on_full: OnFull = OnFull.PREEMPT_NEWEST
    watermark: float = 0.0
    waiting_served_ratio: float = 0.0
    max_waiting_tokens: int = 20
    max_batch_size: int = 8
    max_queue_delay_ms: float = 50.0
    preferred_batch_size: tuple[int, ...] = ()
    start: Start = Start.FULL
    scheduling_policy: SchedulingPolicy = SchedulingPolicy.FCFS
    aging: float = 0.0
    max_queue_size: int = 0
    default_queue_timeout_ms: float = 0.0
    timeout_action: TimeoutAction = TimeoutAction.REJECT
    num_kv_blocks: int = 0
    block_size: int = 16
    kv_policy: KvPolicy = KvPolicy.PAGED
    reserve_tokens: int = 0
    enable_prefix_caching: bool = False
    max_model_len: int = 0
    deliver: Delivery | None = None
    ignore_eos: bool | None = None
    async_scheduling: bool | None = None

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if not getattr(self, name) >= least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        for name, most in MOST.items():
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most}, got {getattr(self, name)}")
        if not all(1 <= size <= self.max_batch_size for size in self.preferred_batch_size):
            raise ValueError(
                f"preferred_batch_size must lie between 1 and max_batch_size "
                f"({self.max_batch_size}), got {list(self.preferred_batch_size)}"
            )
        if (self.long_prefill_token_threshold or 0) < 0:
            raise ValueError(
                "long_prefill_token_threshold must be at least 0 (0 sets no limit), "
                f"got {self.long_prefill_token_threshold}"
            )
        if self.max_num_batched_tokens < self.max_num_seqs:
            raise ValueError(
                f"max_num_batched_tokens must be at least max_num_seqs ({self.max_num_seqs}), "
                f"got {self.max_num_batched_tokens}: decodes would starve"
            )

    def keeps_cache(self, before: EngineSettings) -> bool:
        """Whether the blocks and what they hold stay when these settings take over.

        They do not under the very same settings: an engine that logs these again cleared its cache.
        """
        return self != before and self._cache == before._cache

    @property
    def _cache(self) -> tuple[object, ...]:
        """What the books of the cache depend on."""
        reserve: tuple[int, int] | None = None
        if self.kv_policy is KvPolicy.RESERVE:
            reserve = self.reserve_tokens, 0 if self.reserve_tokens else self.max_model_len
        return self.num_kv_blocks, self.block_size, self.enable_prefix_caching, reserve

    @property
    def delivery(self) -> Delivery:
        """When clients get their tokens under these settings."""
        if self.deliver is not None:
            return self.deliver
        return Delivery.STREAM if self.batcher is BatcherName.CONTINUOUS else Delivery.BATCH

    @property
    def delays(self) -> bool:
        """Whether who waits too long lets the others pass."""
        has_timeout = self.default_queue_timeout_ms > 0
        return has_timeout and self.timeout_action is TimeoutAction.DELAY

    @property
    def num_slots(self) -> int:
        """Sequences that can hold a slot at once."""
        is_continuous = self.batcher is BatcherName.CONTINUOUS
        return self.max_num_seqs if is_continuous else self.max_batch_size
