"""What a pass computes and gives, what it must not touch, and how it fails."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch

from engine.events import Finished
from engine.plan import Plan, Row, RunnerError
from engine.request import FinishReason, Request, Status
from engine.settings import BatcherName, EngineSettings, Start
from tests.builders import events_of
from tests.runners.builders import (
    begin,
    generate,
    make_model,
    make_prompt,
    make_requests,
    make_runner,
    make_torch_core,
    serve,
)

STATIC = {"batcher": BatcherName.STATIC, "start": Start.IDLE, "max_batch_size": 5}
POISON = 1e4


def fail_with(error: Exception) -> Callable[..., None]:
    def hook(*_: object) -> None:
        raise error

    return hook


def test_tokens_come_in_the_order_of_the_plan():
    seqs = [begin(make_prompt(length), at) for length, at in ((9, 0), (3, 16), (6, 32))]
    plan = Plan(tuple(Row(seq, seq.num_tokens) for seq in seqs))
    reference = make_model("llama")

    tokens = make_runner(make_model("llama")).launch(plan).result()

    assert tokens == [generate(reference, s.request.prompt_token_ids, 1)[0] for s in seqs]


def test_a_pass_in_which_no_row_ends_gives_no_token():
    runner = make_runner(make_model("llama"))

    assert runner.launch(Plan((Row(begin(make_prompt(9)), 5),))).result() == []


def test_a_pass_that_would_leave_the_cache_is_refused_before_it_writes_anything():
    runner = make_runner(make_model("llama"), num_blocks=16)
    (layer, *_) = runner.attention.cache.layers.values()
    strays = begin(make_prompt(9), 14, num_blocks=3)
    short = begin(make_prompt(9), 0, num_blocks=2)

    with pytest.raises(RunnerError, match="block 16 of from-block-14 is none of the cache"):
        runner.launch(Plan((Row(strays, 9),)))
    with pytest.raises(RunnerError, match="from-block-0 needs room for 9 tokens and has 2 blocks"):
        runner.launch(Plan((Row(short, 9),)))
    assert not layer.entries.any()
    assert runner.launch(Plan((Row(begin(make_prompt(9)), 9),))).result()


def test_a_reused_slot_gives_what_a_fresh_one_gives():
    core = make_torch_core("llama", max_num_seqs=1)
    serve(core, [Request("before", make_prompt(40, seed=9))])

    outputs = serve(core, make_requests())

    del outputs["before"]
    assert outputs == serve(make_torch_core("llama"), make_requests())


@pytest.mark.parametrize("name", ["llama", "gemma3", "gpt-oss"])
@pytest.mark.parametrize("knobs", [STATIC, {}], ids=["static", "continuous"])
def test_no_live_row_reads_the_scratch_block_or_what_others_left(name, knobs):
    core = make_torch_core(name, **knobs)
    for layer in core.runner.attention.cache.layers.values():
        layer.entries.fill_(POISON)

    assert serve(core, make_requests()) == serve(make_torch_core(name, **knobs), make_requests())


def test_padding_and_dead_rows_write_to_the_scratch_block_alone():
    runner = make_runner(make_model("llama"))
    live, dead = begin(make_prompt(3)), begin(make_prompt(30, seed=1), first_block=16)
    dead.num_computed = 29
    dead.move_to(Status.FINISHED)

    runner.launch(Plan((Row(live, 3), Row(dead, 0)), rectangular=True)).result()

    for layer in runner.attention.cache.layers.values():
        written = layer.entries.flatten(1).any(dim=1).nonzero().flatten().tolist()
        assert written == [0, 64]


def test_a_dead_row_emits_nothing_and_changes_nothing():
    live, dead = begin(make_prompt(9)), begin(make_prompt(30, seed=1), first_block=16)
    runner = make_runner(make_model("llama"))
    expected = runner.launch(Plan((Row(live, 9),))).result()
    runner.launch(Plan((Row(dead, 29),))).result()
    dead.num_computed = 29
    dead.move_to(Status.FINISHED)

    plan = Plan((Row(dead, 0), Row(live, 9)), rectangular=True)

    assert runner.launch(plan).result() == expected


def test_padding_and_dead_rows_are_really_computed():
    core = make_torch_core("llama", **STATIC)
    widths: list[int] = []
    core.runner.model.register_forward_pre_hook(
        lambda _module, _args, kwargs: widths.append(kwargs["input_ids"].shape[1]),
        with_kwargs=True,
    )

    serve(core, make_requests())

    assert widths == [5 * 34] + [5] * 19


def test_running_out_of_memory_fails_the_pass_with_advice():
    runner = make_runner(make_model("llama"))
    runner.model.register_forward_pre_hook(fail_with(torch.OutOfMemoryError("CUDA: out")))

    with pytest.raises(RunnerError, match="out of device memory in a pass of 9 tokens; fewer seq"):
        runner.launch(Plan((Row(begin(make_prompt(9)), 9),)))


def test_another_failure_of_torch_fails_the_pass_with_its_words():
    runner = make_runner(make_model("llama"))
    runner.model.register_forward_pre_hook(fail_with(RuntimeError("device-side assert")))

    with pytest.raises(RunnerError, match="a pass of 9 tokens failed: device-side assert"):
        runner.launch(Plan((Row(begin(make_prompt(9)), 9),)))


@pytest.mark.parametrize("place", [0, 1], ids=["in launch", "in the result"])
def test_a_failed_pass_leaves_nothing_of_its_own_in_memory(place):
    """Not even until cycles are searched for: the next pass needs that memory."""
    core, left = make_torch_core("llama"), []

    def hook(*_: object) -> None:
        tensor = torch.zeros(8)
        left.append(weakref.ref(tensor))
        raise torch.OutOfMemoryError("the device is full")

    gc.disable()
    try:
        if place == 0:
            core.runner.model.register_forward_pre_hook(hook)
        else:
            core.runner._fetcher.fetch = lambda _: SimpleNamespace(wait=hook)
        core.add(Request("r", make_prompt(9)))
        core.step()
        assert left[0]() is None
    finally:
        gc.enable()
    assert events_of(core.log, Finished)[0].reason is FinishReason.ERROR


def test_the_engine_serves_on_after_a_failed_pass():
    core = make_torch_core("llama")
    hook = core.runner.model.register_forward_pre_hook(fail_with(torch.OutOfMemoryError("out")))
    serve(core, [Request("unlucky", make_prompt(9))])
    hook.remove()

    outputs = serve(core, make_requests())

    assert events_of(core.log, Finished)[0].reason is FinishReason.ERROR
    assert outputs == serve(make_torch_core("llama"), make_requests())


def test_a_cache_too_large_for_the_memory_is_refused_and_the_old_one_stays():
    runner = make_runner(make_model("llama"), num_blocks=8)

    with pytest.raises(RunnerError, match=r"1000000000000 KV blocks of 4 tokens take .* are free"):
        runner.resize(10**12, 4)

    assert runner.attention.cache.num_blocks == 8


def test_a_resized_cache_serves():
    core = make_torch_core("llama")

    core.configure(EngineSettings(num_kv_blocks=40, block_size=8))

    assert serve(core, make_requests()) == serve(make_torch_core("llama"), make_requests())
