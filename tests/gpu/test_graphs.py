"""On the device, in float32, replayed graphs give the tokens of `generate` and of eager passes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from engine.events import Step
from engine.runners.capture import Capture, CudaCapture
from engine.settings import BatcherName, Start
from tests.builders import events_of
from tests.runners.builders import generate, make_model, make_model_core, make_requests, serve
from tests.runners.fake_capture import FakeCapture
from tests.runners.overlapping import decode, make_seqs

pytestmark = pytest.mark.gpu

MODELS = ("llama", "gemma3", "gpt-oss", "gpt2")
KNOBS: dict[str, dict[str, Any]] = {
    "continuous": {},
    "a cache that preempts": {"num_kv_blocks": 12},
    "static": {"batcher": BatcherName.STATIC, "max_batch_size": 5, "start": Start.IDLE},
}
FILTERED = {"temperature": 0.9, "top_k": 40, "top_p": 0.9, "min_p": 0.01, "min_tokens": 3}


def make_capturable(name: str, device: torch.device) -> PreTrainedModel:
    """The model of that name, with experts that do not wait for the device in float32.

    torch's grouped product, transformers' choice, does so there in all but bfloat16.
    """
    model = make_model(name).to(device)
    if name == "gpt-oss":
        model.set_experts_implementation("batched_mm")
    return model


@pytest.fixture
def capture(device: torch.device) -> Capture:
    return CudaCapture(device) if device.type == "cuda" else FakeCapture()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("knobs", KNOBS.values(), ids=KNOBS)
def test_tokens_equal_generate(name, knobs, device, capture):
    model = make_capturable(name, device)
    expected = {
        request.id: generate(model, request.prompt_token_ids, request.sampling.max_tokens)
        for request in make_requests()
    }
    core = make_model_core(make_capturable(name, device), capture, **knobs)

    assert core.runner.prepare(8).startswith("decoding by up to 8 rows")
    assert serve(core, make_requests()) == expected
    assert any(step.mode.startswith("graph") for step in events_of(core.log, Step))


@pytest.mark.parametrize("name", MODELS)
def test_sampled_tokens_equal_those_of_eager_passes(name, device, capture):
    requests = make_requests(**FILTERED)
    eager = serve(make_model_core(make_capturable(name, device)), requests)

    assert serve(make_model_core(make_capturable(name, device), capture), requests) == eager


@pytest.mark.parametrize("sampling", [{}, FILTERED], ids=["greedy", "filtered"])
def test_steps_that_overlap_give_the_tokens_of_steps_that_wait(sampling, device, capture):
    waiting = decode(make_seqs(**sampling), is_overlapping=False, device=device)

    for each in (None, capture):
        seqs = make_seqs(**sampling)
        assert decode(seqs, is_overlapping=True, capture=each, device=device) == waiting
