"""On the device, in float32, tokens equal those of `generate` on the same device."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.core import EngineCore
from engine.runners.loading.load import DummyTokenizer
from engine.settings import BatcherName, Start
from tests.builders import make_core, make_info
from tests.runners.builders import (
    BLOCK_SIZE,
    VOCAB_SIZE,
    generate,
    make_model,
    make_requests,
    make_runner,
    serve,
)

pytestmark = pytest.mark.gpu

MODELS = ("llama", "qwen3", "gemma3", "gemma2", "gpt-oss")
KNOBS: dict[str, dict[str, Any]] = {
    "continuous": {},
    "chunks": {"long_prefill_token_threshold": BLOCK_SIZE + 1},
    "a cache that preempts": {"num_kv_blocks": 12},
    "static": {"batcher": BatcherName.STATIC, "max_batch_size": 5, "start": Start.IDLE},
}


@pytest.fixture(scope="module", params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def expected(name: str, device: torch.device) -> dict[str, list[int]]:
    model = make_model(name).to(device)
    return {
        request.id: generate(model, request.prompt_token_ids, request.sampling.max_tokens)
        for request in make_requests()
    }


def make_device_core(name: str, device: torch.device, **knobs: Any) -> EngineCore:
    num_blocks = knobs.get("num_kv_blocks", 64)
    return make_core(
        runner=make_runner(make_model(name).to(device), num_blocks),
        tokenizer=DummyTokenizer(VOCAB_SIZE, frozenset()),
        info=make_info(256, num_blocks),
        **{"block_size": BLOCK_SIZE, "max_num_seqs": 4} | knobs,
    )


@pytest.mark.parametrize("knobs", KNOBS.values(), ids=KNOBS)
def test_tokens_equal_generate(name, expected, device, knobs):
    assert serve(make_device_core(name, device, **knobs), make_requests()) == expected


def test_sampled_tokens_do_not_depend_on_company(device):
    sampling = {"temperature": 0.9, "top_k": 40, "top_p": 0.9, "min_p": 0.01}
    alone = serve(make_device_core("llama", device, max_num_seqs=1), make_requests(**sampling))

    assert serve(make_device_core("llama", device), make_requests(**sampling)) == alone
