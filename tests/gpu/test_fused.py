"""On the device, in float32, layers of fewer launches give the tokens of `generate`."""

from __future__ import annotations

import pytest
import torch

from engine.runners.build import COMPILER
from engine.runners.capture import Capture, CudaCapture
from engine.runners.layers import plain_ops
from engine.runners.layers.fuse import DeviceKit, fuse
from engine.runners.layers.layer_ops import LayerOps
from engine.runners.loading.load import DummyTokenizer
from engine.runners.loading.support import adopt
from engine.runners.torch_runner import TorchRunner
from engine.runners.triton import fused_ops
from tests.builders import make_core, make_info
from tests.runners.builders import (
    BLOCK_SIZE,
    VOCAB_SIZE,
    generate,
    make_model,
    make_model_core,
    make_requests,
    serve,
)
from tests.runners.fake_capture import FakeCapture

pytestmark = pytest.mark.gpu


def expect(name: str, device: torch.device) -> dict[str, list[int]]:
    """What `generate` gives."""
    model = make_model(name).to(device)
    return {
        request.id: generate(model, request.prompt_token_ids, request.sampling.max_tokens)
        for request in make_requests()
    }


def make_capture(device: torch.device) -> Capture:
    return CudaCapture(device) if device.type == "cuda" else FakeCapture()


@pytest.mark.parametrize("ops", [plain_ops, fused_ops], ids=["plain", "fused"])
def test_tokens_equal_generate_in_graphs(ops: LayerOps, device: torch.device):
    model = make_model("qwen3").to(device)

    assert fuse(model, DeviceKit(ops)) == 3  # two layers and the last norm
    core = make_model_core(model, make_capture(device))
    assert serve(core, make_requests()) == expect("qwen3", device)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_model_of_half_the_size_is_fused_as_much(dtype: torch.dtype, device: torch.device):
    assert fuse(make_model("qwen3").to(device, dtype), DeviceKit(fused_ops)) == 3


@pytest.mark.parametrize("name", ["gemma2", "gpt-oss"])
def test_what_fits_of_other_models_is_fused_too(name: str, device: torch.device):
    model = make_model(name).to(device)

    assert fuse(model, DeviceKit(fused_ops)) > 0
    assert serve(make_model_core(model), make_requests()) == expect(name, device)


def test_compiled_layers_give_the_tokens_of_generate_in_graphs(device: torch.device):
    if device.type != "cuda":
        pytest.skip("torch.compile takes too long where nothing is gained by it")
    model = make_model("qwen3").to(device)
    fuse(model, DeviceKit(plain_ops))
    runner = TorchRunner(model, adopt(model), frozenset(), make_capture(device), 256, COMPILER)
    runner.resize(64, BLOCK_SIZE)
    runner.rehearse()
    core = make_core(
        runner=runner,
        tokenizer=DummyTokenizer(VOCAB_SIZE, frozenset()),
        info=make_info(256, 64),
        block_size=BLOCK_SIZE,
        max_num_seqs=4,
    )

    assert serve(core, make_requests()) == expect("qwen3", device)
