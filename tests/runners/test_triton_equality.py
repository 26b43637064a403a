"""Tokens by the interpreted Triton kernel equal those of `generate`."""

from __future__ import annotations

from typing import Any

import pytest

from engine.core import EngineCore
from engine.events import Step
from engine.request import Request, SamplingParams
from engine.runners.capture import Capture
from engine.runners.loading.load import DummyTokenizer
from engine.runners.loading.support import adopt
from engine.runners.torch_runner import TorchRunner
from engine.settings import BatcherName, Start
from tests.builders import events_of, make_core, make_info
from tests.runners.builders import (
    BLOCK_SIZE,
    VOCAB_SIZE,
    generate_each,
    make_model,
    make_prompt,
    serve,
)
from tests.runners.fake_capture import FakeCapture

pytest.importorskip("triton", reason="triton is not installed")

MODELS = ("llama", "gemma2", "gemma3", "gpt-oss")
KNOBS: dict[str, dict[str, Any]] = {
    "chunks": {"long_prefill_token_threshold": BLOCK_SIZE + 1},
    "static": {"batcher": BatcherName.STATIC, "max_batch_size": 3, "start": Start.IDLE},
}


@pytest.fixture(scope="module", params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def expected(name: str) -> dict[str, list[int]]:
    return generate_each(name, make_requests())


def make_requests() -> list[Request]:
    sizes = ((1, 8), (13, 6), (21, 3))  # tokens of the prompt and of the output
    return [
        Request(f"r{index}", make_prompt(length), SamplingParams(max_tokens=most))
        for index, (length, most) in enumerate(sizes)
    ]


def make_triton_core(name: str, capture: Capture | None = None, **knobs: Any) -> EngineCore:
    model = make_model(name)
    attention = adopt(model, "triton")
    runner = TorchRunner(model, attention, frozenset(), capture, max_model_len=64)
    runner.resize(32, BLOCK_SIZE)
    return make_core(
        runner=runner,
        tokenizer=DummyTokenizer(VOCAB_SIZE, frozenset()),
        info=make_info(256, 32),
        **{"block_size": BLOCK_SIZE, "max_num_seqs": 3} | knobs,
    )


@pytest.mark.parametrize("knobs", KNOBS.values(), ids=KNOBS)
def test_tokens_equal_generate(name, expected, knobs):
    core = make_triton_core(name, **knobs)

    assert core.runner.attention.name == "paged triton (interpreted)"
    assert serve(core, make_requests()) == expected


@pytest.mark.parametrize("name", ["gpt-oss"], indirect=True)
def test_recorded_passes_give_the_same_tokens(name, expected):
    core = make_triton_core(name, FakeCapture())

    assert serve(core, make_requests()) == expected
    assert any(step.mode.startswith("graph") for step in events_of(core.log, Step))
