"""Tokens equal those of `generate`, whatever the batcher, the chunks and the cache."""

from __future__ import annotations

from typing import Any

import pytest

from engine.events import Step
from engine.request import Request, SamplingParams
from engine.settings import BatcherName, OnFull, PassOrder, SchedulingPolicy, Start
from tests.builders import events_of
from tests.runners.builders import (
    BLOCK_SIZE,
    MODELS,
    generate_each,
    make_prompt,
    make_requests,
    make_torch_core,
    serve,
)

WHOLE = 0  # a threshold that sets no limit
STATIC = {"batcher": BatcherName.STATIC, "start": Start.IDLE}
DYNAMIC = {"batcher": BatcherName.DYNAMIC, "max_queue_delay_ms": 0.0}
KNOBS: dict[str, dict[str, Any]] = {
    "static by two": STATIC | {"max_batch_size": 2},
    "static all at once": STATIC | {"max_batch_size": 5},
    "static in a small cache": STATIC | {"num_kv_blocks": 13},
    "dynamic by three": DYNAMIC | {"max_batch_size": 3},
    "whole prompts": {"long_prefill_token_threshold": WHOLE},
    "chunks of one token": {"long_prefill_token_threshold": 1},
    "chunks of a block less one": {"long_prefill_token_threshold": BLOCK_SIZE - 1},
    "chunks of a block": {"long_prefill_token_threshold": BLOCK_SIZE},
    "chunks of a block and one": {"long_prefill_token_threshold": BLOCK_SIZE + 1},
    "no chunks": {"enable_chunked_prefill": False, "max_num_batched_tokens": 8},
    "a small budget": {"max_num_batched_tokens": 8},
    "a cache that preempts": {"num_kv_blocks": 12},
    "planned ahead": {"async_scheduling": True},
    "static, planned ahead": STATIC | {"max_batch_size": 2, "async_scheduling": True},
    "planned ahead in a small cache": {"async_scheduling": True, "num_kv_blocks": 12},
    "prefixes that are shared": {"enable_prefix_caching": True},
    "prefixes in a small cache": {"enable_prefix_caching": True, "num_kv_blocks": 12},
    "prefixes, planned ahead": {
        "enable_prefix_caching": True,
        "async_scheduling": True,
        "num_kv_blocks": 12,
    },
    "prompts alone": {"pass_order": PassOrder.PREFILL_ALONE, "num_kv_blocks": 12},
    "room to the end": {"on_full": OnFull.NO_EVICT, "num_kv_blocks": 12},
    "the last in line makes room": {
        "on_full": OnFull.PREEMPT_LOWEST,
        "scheduling_policy": SchedulingPolicy.SJF_PROMPT,
        "num_kv_blocks": 12,
    },
}


@pytest.fixture(scope="module", params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def expected(name: str) -> dict[str, list[int]]:
    return generate_each(name, make_requests())


@pytest.mark.parametrize("knobs", KNOBS.values(), ids=KNOBS)
def test_tokens_equal_generate(name, expected, knobs):
    assert serve(make_torch_core(name, **knobs), make_requests()) == expected


def test_the_outputs_that_are_compared_vary(expected):
    assert len({tuple(tokens) for tokens in expected.values()}) == 5
    assert len(set(expected["r4"])) > 5


def test_the_small_cache_really_preempts():
    core = make_torch_core("llama", **KNOBS["a cache that preempts"])

    serve(core, make_requests())

    assert any(step.preempted for step in events_of(core.log, Step))


def test_a_batch_is_really_padded_and_carries_dead_rows():
    core = make_torch_core("llama", **KNOBS["static all at once"])

    serve(core, make_requests())

    first, *_, last = (step for step in events_of(core.log, Step) if step.rows)
    assert (first.num_tokens, first.num_slots) == (69, 170)
    assert (last.num_tokens, last.num_slots) == (1, 5)


@pytest.mark.parametrize(
    "knobs",
    [
        {},
        {"num_kv_blocks": 14},
        STATIC | {"max_batch_size": 3},
        {"long_prefill_token_threshold": 5},
        {"async_scheduling": True},
    ],
    ids=["at ease", "in a small cache", "in padded batches", "in chunks", "planned ahead"],
)
def test_tokens_equal_generate_when_the_beginning_was_computed_for_another(knobs):
    system = make_prompt(3 * BLOCK_SIZE + 2, seed=1)
    requests = [
        Request(f"r{at}", (*system, *make_prompt(1 + at, at)), SamplingParams(max_tokens=9), at / 2)
        for at in range(7)
    ]
    core = make_torch_core("llama", enable_prefix_caching=True, **knobs)

    outputs = serve(core, requests)

    assert outputs == generate_each("llama", requests)
    changes = (change for step in events_of(core.log, Step) for change in step.blocks)
    assert sum(bool(change.lookup and change.lookup.num_hit) for change in changes) >= 4
