"""Decoding passes can be recorded, and replayed give the tokens of passes that are not."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

from engine.core import EngineCore
from engine.events import Step
from engine.request import Request, SamplingParams
from engine.runners.capture import Run
from engine.settings import BatcherName, EngineSettings, Start
from tests.builders import events_of
from tests.runners.builders import (
    VOCAB_SIZE,
    make_model_core,
    make_prompt,
    make_requests,
    make_torch_core,
    serve,
)
from tests.runners.fake_capture import FakeCapture
from tests.runners.families import SERVED, make_family

STATIC = {"batcher": BatcherName.STATIC, "start": Start.IDLE, "max_batch_size": 5}
POISON = 1e4
RANDOM = {"temperature": 0.9}
FILTERED = RANDOM | {"top_k": 40, "top_p": 0.9, "min_p": 0.01}
KNOBS: dict[str, dict[str, Any]] = {
    "continuous": {},
    "chunks": {"long_prefill_token_threshold": 5},
    "a cache that preempts": {"num_kv_blocks": 12},
    "static, with dead rows": STATIC,
}


def make_mixed() -> list[Request]:
    """Greedy, random and filtered requests, some that may not end at once."""
    kinds = ({}, RANDOM, FILTERED, FILTERED | {"min_tokens": 4, "stop_token_ids": frozenset({3})})
    return [
        Request(f"r{at}", make_prompt(3 + 4 * at), SamplingParams(max_tokens=8 - at, **kind))
        for at, kind in enumerate(kinds)
    ]


def modes_of(core: EngineCore) -> list[str]:
    return [step.mode for step in events_of(core.log, Step) if step.rows]


@pytest.mark.parametrize("family", SERVED)
def test_every_family_can_be_recorded_with_its_sampling_and_gives_the_same_tokens(family):
    model_type, shape = SERVED[family]
    capture = FakeCapture()
    expected = serve(make_model_core(make_family(model_type, shape)), make_mixed())

    core = make_model_core(make_family(model_type, shape), capture)

    assert serve(core, make_mixed()) == expected
    assert core.runner.prepare(4) == "decoding by up to 4 rows"
    assert capture.num_replays == sum(mode.startswith("graph") for mode in modes_of(core)) >= 7


@pytest.mark.parametrize("sampling", [{}, FILTERED], ids=["greedy", "filtered"])
@pytest.mark.parametrize("knobs", KNOBS.values(), ids=KNOBS)
def test_every_batcher_gives_the_same_tokens_with_graphs(knobs, sampling):
    requests = make_requests(**sampling)
    core = make_torch_core("llama", FakeCapture(), **knobs)

    assert serve(core, requests) == serve(make_torch_core("llama", **knobs), requests)
    assert any(mode.startswith("graph") for mode in modes_of(core))


def test_the_padding_of_a_graph_writes_to_the_scratch_block_alone():
    core = make_torch_core("llama", FakeCapture())
    for request in make_mixed()[:3]:
        core.add(request)
    core.step()
    core.step()  # records the graph
    cache = core.runner.attention.cache
    free = set(range(cache.num_blocks)).difference(*(s.block_table for s in core.queues.running))
    for layer in cache.layers.values():
        layer.entries[sorted(free)] = POISON

    core.step()

    assert modes_of(core)[-1] == "graph 4", "three rows, and one of padding"
    still_free = free.difference(*(seq.block_table for seq in core.queues.running))
    for layer in cache.layers.values():
        assert (layer.entries[sorted(still_free)] == POISON).all()


def test_the_triton_kernel_is_recorded_and_gives_the_same_tokens():
    pytest.importorskip("triton", reason="triton is not installed")
    requests = make_mixed()[:3]
    core = make_torch_core("llama", FakeCapture(), "triton")

    assert serve(core, requests) == serve(make_torch_core("llama"), requests)
    assert sum(mode.startswith("graph") for mode in modes_of(core)) == 7


class Forgetful:
    """Keeps no reference to what it records, as a device's graph does not."""

    def capture(self, run: Run) -> Run:
        output = run()
        return lambda: output


def test_a_graph_keeps_every_tensor_that_attention_reads(monkeypatch):
    core = make_torch_core("llama", Forgetful())
    attention, handed = core.runner.attention, []
    begin_decode = attention.begin_decode

    def note(decode, write_slots):
        handed.extend(map(weakref.ref, (decode.block_tables, decode.kv_lens, decode.query_starts)))
        begin_decode(decode, write_slots)

    monkeypatch.setattr(attention, "begin_decode", note)
    core.runner.prepare(2)
    gc.collect()

    assert len(handed) == 2 * 3
    assert all(tensor() is not None for tensor in handed)


def test_each_pass_says_which_graph_it_was_or_why_none():
    core = make_torch_core("llama", FakeCapture())

    serve(core, [Request(f"r{n}", make_prompt(6), SamplingParams(max_tokens=3)) for n in range(3)])

    assert modes_of(core) == ["eager: prefill", "graph 4, recorded now", "graph 4"]


def test_graphs_are_recorded_at_the_start_from_the_largest_on():
    capture = FakeCapture()
    core = make_torch_core("llama", capture)

    assert core.runner.prepare(6) == "decoding by up to 8 rows"
    assert capture.num_captures == 4
    serve(core, [Request("r", make_prompt(6), SamplingParams(max_tokens=3))])
    assert modes_of(core) == ["eager: prefill", "graph 1", "graph 1"]


def test_a_context_that_outgrows_its_graph_gets_a_wider_one():
    request = Request("r", make_prompt(60), SamplingParams(max_tokens=8))
    core = make_torch_core("llama", FakeCapture())

    outputs = serve(core, [request])

    assert outputs == serve(make_torch_core("llama"), [request])
    assert modes_of(core)[1:6] == [
        "graph 1, recorded now",
        *["graph 1"] * 3,
        "graph 1, recorded now",
    ]


def test_another_cache_makes_all_graphs_anew():
    capture = FakeCapture()
    core = make_torch_core("llama", capture)
    core.runner.prepare(4)

    core.configure(EngineSettings(num_kv_blocks=40, block_size=8))

    assert serve(core, make_requests()) == serve(make_torch_core("llama"), make_requests())
    assert capture.num_captures > 3


def test_a_graph_recorded_while_a_token_is_under_way_leaves_it_alone():
    core = make_torch_core("llama", FakeCapture())
    samples = core.runner._samples
    samples.keep(torch.tensor([5, 6, 7]))

    core.runner.prepare(8)

    kept = samples._tokens[:3].tolist()
    assert kept == [5, 6, 7]


def test_more_ids_to_rule_out_than_a_graph_can_mask_run_without():
    many = SamplingParams(max_tokens=3, min_tokens=2, stop_token_ids=frozenset(range(9)))
    core = make_torch_core("llama", FakeCapture())

    outputs = serve(core, [Request("r", make_prompt(6), many)])

    assert modes_of(core)[1] == "eager: 9 ids to rule out, and graphs hold 8"
    assert set(outputs["r"][:2]) <= set(range(9, VOCAB_SIZE))


def test_more_rows_than_the_largest_graph_run_without():
    limits = {"max_num_seqs": 520, "max_num_batched_tokens": 520, "num_kv_blocks": 520}
    core = make_torch_core("llama", FakeCapture(), **limits)

    serve(core, [Request(f"r{n}", (5,), SamplingParams(max_tokens=2)) for n in range(520)])

    assert modes_of(core)[1] == "eager: 520 rows, and graphs hold 512"


class Failing:
    def capture(self, run: Run) -> Callable[[], torch.Tensor]:
        raise RuntimeError("operation not permitted when stream is capturing\nand pages of advice")


def test_where_recording_fails_passes_run_without_and_say_so():
    reason = "recording a graph failed: operation not permitted when stream is capturing"
    core = make_torch_core("llama", Failing())

    assert core.runner.prepare(4) == f"off: {reason}"
    assert serve(core, make_requests()) == serve(make_torch_core("llama"), make_requests())
    assert set(modes_of(core)) == {f"eager: {reason}"}
