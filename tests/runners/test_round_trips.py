"""The host waits for the device once a step: for the tokens that it sampled."""

from __future__ import annotations

import pytest
import torch

from engine.plan import Plan, Row
from engine.request import Request, SamplingParams
from tests.runners.builders import begin, make_model, make_prompt, make_runner
from tests.runners.fake_capture import FakeCapture
from tests.runners.traffic import HostSide, Traffic

SAMPLINGS = {
    "greedy": SamplingParams(),
    "random": SamplingParams(temperature=0.8),
    "filtered": SamplingParams(temperature=0.8, top_k=20, top_p=0.9, min_p=0.01),
    "guarded": SamplingParams(min_tokens=4),
}


def make_rows(sampling: SamplingParams) -> list[Row]:
    """A sequence that decodes and a prompt of which a chunk is computed."""
    decoding, prompt = begin(make_prompt(9)), begin(make_prompt(20), 16)
    decoding.num_computed = 8
    for seq in (decoding, prompt):
        seq.request = Request(seq.id, seq.request.prompt_token_ids, sampling)
    return [Row(decoding, 1), Row(prompt, 20)]


@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
@pytest.mark.parametrize("way", ["gather", "triton"])
def test_a_pass_of_any_kind_comes_back_once(way, sampling, monkeypatch):
    if way == "triton":
        pytest.importorskip("triton", reason="triton is not installed")
    host = HostSide(monkeypatch)
    runner = make_runner(make_model("llama"), eos_token_ids=frozenset({3}), way=way)
    mixed, decode = make_rows(sampling), make_rows(sampling)[:1]
    runner.launch(Plan(tuple(mixed))).result()  # makes what lasts

    for rows in (mixed, decode):
        with Traffic(host) as seen:
            runner.launch(Plan(tuple(rows))).result()
        assert {key: count for key, count in seen.items() if key != "to device"} == {"to host": 1}


@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
def test_a_pass_that_a_graph_replays_goes_there_in_one_copy_too(sampling, monkeypatch):
    host = HostSide(monkeypatch)
    eos_token_ids, capture = frozenset({3}), FakeCapture()
    runner = make_runner(make_model("llama"), eos_token_ids=eos_token_ids, capture=capture)
    plan = Plan((make_rows(sampling)[0],))
    runner.launch(plan).result()

    with Traffic(host) as seen:
        launch = runner.launch(plan)
        launch.result()

    assert launch.mode == "graph 1"
    assert seen == {"to device": 1, "to host": 1}


def test_a_wait_would_be_seen(monkeypatch):
    host = HostSide(monkeypatch)
    with Traffic(host) as seen:
        bool(torch.ones(3).any())
        torch.ones(3).nonzero()

    assert seen == {
        "waits in __bool__": 1,
        "waits in _local_scalar_dense": 1,
        "waits in nonzero": 1,
    }
