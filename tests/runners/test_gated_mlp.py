"""The feed-forward layer of three products gives what transformers' own gives."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP

from engine.runners.layers.gated_mlp import GatedMlp


def make_mlp(activation: str, num_inner: int = 48) -> LlamaMLP:
    torch.manual_seed(0)
    return LlamaMLP(
        LlamaConfig(
            hidden_size=32, intermediate_size=num_inner, hidden_act=activation, mlp_bias=True
        )
    )


@pytest.mark.parametrize("activation", ["silu", "gelu", "gelu_pytorch_tanh"])
@pytest.mark.parametrize("num_tokens", [0, 1, 5])
def test_it_computes_what_transformers_does(activation, num_tokens):
    original, hidden = make_mlp(activation), torch.randn(1, num_tokens, 32)

    mlp = GatedMlp.of(original)

    with torch.inference_mode():
        torch.testing.assert_close(mlp(hidden), original(hidden), atol=1e-5, rtol=1e-3)
        torch.testing.assert_close(
            mlp.add_to(hidden, hidden), hidden + original(hidden), atol=1e-5, rtol=1e-3
        )


def test_an_activation_that_no_product_ends_with_is_left_alone():
    assert GatedMlp.of(make_mlp("relu2")) is None


def test_a_module_without_the_three_layers_is_left_alone():
    assert GatedMlp.of(torch.nn.Linear(4, 4)) is None
