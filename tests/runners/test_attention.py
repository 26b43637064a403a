"""The model's attention: whose it is, how long it lives, and what a failed resize leaves."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch

from engine.plan import CacheLostError, Plan, Row, RunnerError
from engine.runners.attention import paged_attention as module
from engine.runners.kv_cache import KvCache
from engine.runners.loading.support import adopt
from tests.runners.builders import begin, make_model, make_prompt, make_runner


def test_it_knows_what_a_token_takes_before_there_is_a_cache():
    attention = adopt(make_model("llama"))

    assert sorted(attention.shapes) == [0, 1]
    assert attention.kv_bytes_per_token == 2 * 2 * (16 + 16) * 4
    assert attention.name == "grouped gather + sdpa"


def test_two_models_in_one_process_keep_apart():
    one, two = make_runner(make_model("llama")), make_runner(make_model("qwen3"))
    plan = Plan((Row(begin(make_prompt(9)), 9),))
    alone = make_runner(make_model("llama")).launch(plan).result()

    assert two.launch(plan).result() != alone
    assert one.launch(plan).result() == alone


def test_a_dropped_runner_gives_its_cache_back():
    runner = make_runner(make_model("llama"))
    cache = weakref.ref(runner.attention.cache)

    del runner
    gc.collect()

    assert cache() is None


def test_a_failed_allocation_leaves_a_cache_of_the_old_size(monkeypatch):
    class Failing(KvCache):
        def __init__(self, shapes, num_blocks, *more):
            if num_blocks == 32:
                raise torch.OutOfMemoryError("the device is full")
            super().__init__(shapes, num_blocks, *more)

    monkeypatch.setattr(module, "KvCache", Failing)
    runner = make_runner(make_model("llama"), num_blocks=16)

    message = r"32 KV blocks of 8 tokens take .*: the device is full"
    with pytest.raises(CacheLostError, match=message):
        runner.resize(32, 8)

    assert (runner.attention.cache.num_blocks, runner.attention.block_size) == (16, 4)
    assert len(runner.launch(Plan((Row(begin(make_prompt(9)), 9),))).result()) == 1


def test_a_way_that_cannot_be_had_is_refused_and_the_cache_stays():
    model = make_model("llama")
    attention = adopt(model, "varlen")

    with pytest.raises(RunnerError, match=r"--attention varlen: it needs a CUDA device"):
        attention.resize(8, 256)

    assert attention.cache.num_blocks == 0


def test_gathering_and_the_kernel_can_be_captured_and_gathering_reads_all_of_a_table():
    pytest.importorskip("triton", reason="triton is not installed")
    gathering, by_kernel = (
        adopt(make_model("llama"), "gather"),
        adopt(make_model("llama"), "triton"),
    )
    gathering.resize(8, 4)
    by_kernel.resize(8, 4)

    assert (gathering.is_capturable, by_kernel.is_capturable) == (True, True)
    assert (gathering.reads_padding, by_kernel.reads_padding) == (True, False)
