"""Any settings, and any requests, for tests of what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from engine.request import Request, SamplingParams
from engine.settings import (
    BatcherName,
    Delivery,
    EngineSettings,
    KvPolicy,
    OnFull,
    PassOrder,
    SchedulingPolicy,
    Start,
    TimeoutAction,
)


@st.composite
def engine_settings(draw: Callable, **fixed: object) -> EngineSettings:
    max_num_seqs, block_size = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    cache = draw(st.sampled_from([0, 24, 36, 80]))  # tokens; 0 is what the device has
    knobs = {
        "batcher": draw(st.sampled_from(BatcherName)),
        "max_num_seqs": max_num_seqs,
        "max_num_batched_tokens": max_num_seqs + draw(st.integers(0, 24)),
        "enable_chunked_prefill": draw(st.booleans()),
        "long_prefill_token_threshold": draw(st.none() | st.integers(0, 8)),
        "max_long_partial_prefills": draw(st.integers(0, 2)),
        "pass_order": draw(st.sampled_from(PassOrder)),
        "on_full": draw(st.sampled_from(OnFull)),
        "watermark": draw(st.sampled_from([0.0, 0.1, 0.5])),
        "waiting_served_ratio": draw(st.sampled_from([0.0, 0.5, 2.0])),
        "max_waiting_tokens": draw(st.integers(1, 5)),
        "preferred_batch_size": draw(st.sampled_from([(), (1,), (2, 3)])),
        "scheduling_policy": draw(st.sampled_from(SchedulingPolicy)),
        "aging": draw(st.sampled_from([0.0, 0.5, 20.0])),
        "max_queue_size": draw(st.sampled_from([0, 0, 3])),
        "default_queue_timeout_ms": draw(st.sampled_from([0.0, 0.0, 700.0, 5000.0])),
        "timeout_action": draw(st.sampled_from(TimeoutAction)),
        "max_batch_size": draw(st.integers(3, 5)),
        "max_queue_delay_ms": draw(st.sampled_from([0.0, 500.0, 3000.0])),
        "start": draw(st.sampled_from(Start)),
        "num_kv_blocks": -(-cache // block_size),
        "block_size": block_size,
        "kv_policy": draw(st.sampled_from(KvPolicy)),
        "enable_prefix_caching": draw(st.booleans()),
        "reserve_tokens": draw(st.sampled_from([0, 5, 20])),
        "max_model_len": draw(st.sampled_from([0, 100, 20])),
        "deliver": draw(st.none() | st.sampled_from(Delivery)),
        "async_scheduling": draw(st.booleans()),
    }
    return EngineSettings(**(knobs | fixed))


SAMPLING = st.builds(
    SamplingParams,
    max_tokens=st.integers(1, 9),
    min_tokens=st.integers(0, 1),
    stop=st.sampled_from([(), ("slot", "batch"), ("r a",)]),
    stop_token_ids=st.frozensets(st.integers(1, 66), max_size=4),
)
PROMPTS = st.sampled_from([(token,) * length for token in (1, 1, 2) for length in range(31)])
ASKED = st.lists(
    st.builds(
        Request,
        st.just("later"),
        PROMPTS,
        SAMPLING,
        cancel_after_tokens=st.none() | st.integers(1, 5),
        priority=st.integers(-1, 2),
    ),
    min_size=1,
    max_size=6,
)
