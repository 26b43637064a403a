"""A model of fewer operations, its kernels interpreted, is the same model, recorded too."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed")
from engine.runners.layers import plain_ops
from engine.runners.layers.device_layer import DeviceLayer
from engine.runners.layers.device_parts import DeviceMlp, DeviceNorm
from engine.runners.layers.fuse import DeviceKit, fuse
from engine.runners.layers.layer_ops import LayerOps
from engine.runners.triton import fused_ops
from tests.runners.builders import (
    generate,
    make_model,
    make_model_core,
    make_requests,
    serve,
)
from tests.runners.fake_capture import FakeCapture

PARTS = (DeviceLayer, DeviceMlp, DeviceNorm)


pytestmark = pytest.mark.parametrize("ops", [plain_ops, fused_ops], ids=["plain", "fused"])


def make_fused(name: str, ops: LayerOps, dtype: torch.dtype = torch.float32) -> torch.nn.Module:
    model = make_model(name).to(dtype)
    fuse(model, DeviceKit(ops))
    return model


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("llama", {DeviceLayer: 2, DeviceMlp: 2, DeviceNorm: 2 * 2 + 1}),
        ("qwen3", {DeviceLayer: 2, DeviceMlp: 2, DeviceNorm: 2 * 2 + 1}),
        ("gemma3", {DeviceMlp: 2}),
        ("gemma2", {DeviceMlp: 2}),
        ("gpt-oss", {DeviceNorm: 2 * 2 + 1}),
        ("gpt2", {}),
    ],
)
def test_as_much_is_fused_as_a_models_structure_allows(name, parts, ops):
    kinds = Counter(type(module) for module in make_fused(name, ops).modules())

    assert {kind: kinds[kind] for kind in PARTS if kinds[kind]} == parts


@pytest.mark.slow
def test_tokens_equal_generate_in_recorded_passes(ops):
    original = make_model("qwen3")

    core = make_model_core(make_fused("qwen3", ops), FakeCapture())

    assert serve(core, make_requests()) == {
        request.id: generate(original, request.prompt_token_ids, request.sampling.max_tokens)
        for request in make_requests()
    }


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_fused_model_of_half_the_size_is_as_near_to_the_true_logits_as_the_original(dtype, ops):
    ids = torch.tensor([[5, 6, 7, 90, 4]])
    true, original = make_model("llama"), make_model("llama").to(dtype)
    fused = make_fused("llama", ops, dtype)

    assert any(isinstance(module, DeviceLayer) for module in fused.modules())
    fused.set_attn_implementation("sdpa")  # "eager" is not one that can be looked up
    with torch.inference_mode():
        expected = true(ids).logits
        errors = [(model(ids).logits - expected).abs().mean() for model in (original, fused)]
    assert errors[1] < 1.2 * errors[0]


def test_biases_of_the_inputs_count(ops):
    model = make_model("llama")
    for layer in model.model.layers:
        for name in ("q_proj", "k_proj", "v_proj"):
            linear = getattr(layer.self_attn, name)
            linear.bias = torch.nn.Parameter(torch.randn(linear.out_features))

    assert fuse(model, DeviceKit(ops)) == 3
    assert all(layer.input_bias is not None for layer in model.model.layers)


def test_a_layer_is_not_changed_by_what_it_is_given(ops):
    model = make_fused("llama", ops)
    model.set_attn_implementation("sdpa")
    hidden = torch.randn(1, 3, 32)
    before, angles = hidden.clone(), torch.zeros(1, 3, 16)

    with torch.inference_mode():
        model.model.layers[0](hidden, position_embeddings=(angles.cos(), angles.sin()))

    assert hidden.equal(before)
