"""Packed layers compute what plain ones do, for any number of tokens."""

from __future__ import annotations

import pytest
import torch

from engine.runners.layers.pack_linears import pack_linears
from engine.runners.layers.packed_linear import Activation, PackedLinear
from tests.runners.builders import make_model


@pytest.mark.parametrize("size", [(1, 0, 24), (1, 1, 24), (1, 37, 24), (5, 24)], ids=str)
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_a_packed_layer_computes_what_the_plain_one_does(size, bias):
    torch.manual_seed(0)
    linear, hidden = torch.nn.Linear(24, 40, bias=bias), torch.randn(size)

    with torch.inference_mode():
        torch.testing.assert_close(PackedLinear(linear)(hidden), linear(hidden))


def test_every_linear_layer_of_a_model_is_packed_and_nothing_else():
    model = make_model("llama")

    pack_linears(model)

    kinds = [type(module) for module in model.modules()]
    assert kinds.count(PackedLinear) == 2 * 7 + 1
    assert torch.nn.Linear not in kinds


def test_a_packed_model_gives_the_same_logits():
    model, packed, ids = make_model("llama"), make_model("llama"), torch.tensor([[5, 6, 7]])

    pack_linears(packed)

    with torch.inference_mode():
        torch.testing.assert_close(packed(ids).logits, model(ids).logits)


def test_weights_in_half_precision_are_left_alone():
    model = make_model("llama").to(torch.float16)

    pack_linears(model)

    assert PackedLinear not in {type(module) for module in model.modules()}


def test_a_packed_layer_rounds_bfloat16_as_the_plain_one_does():
    torch.manual_seed(0)
    linear, hidden = torch.nn.Linear(24, 40).bfloat16(), torch.randn(1, 5, 24).bfloat16()

    with torch.inference_mode():
        torch.testing.assert_close(PackedLinear(linear)(hidden), linear(hidden))


@pytest.mark.parametrize("num_tokens", [0, 3])
def test_several_layers_of_one_input_are_one_layer(num_tokens):
    torch.manual_seed(0)
    first, second = torch.nn.Linear(24, 8), torch.nn.Linear(24, 16)
    hidden = torch.randn(1, num_tokens, 24)

    with torch.inference_mode():
        expected = torch.cat((first(hidden), second(hidden)), dim=-1)
        torch.testing.assert_close(PackedLinear(first, second)(hidden), expected)


@pytest.mark.parametrize("num_tokens", [0, 3])
def test_what_follows_a_product_is_computed_with_it(num_tokens):
    torch.manual_seed(0)
    linear, hidden = torch.nn.Linear(24, 40), torch.randn(1, num_tokens, 24)
    other, packed = torch.randn(1, num_tokens, 40), PackedLinear(linear)

    with torch.inference_mode():
        plain = linear(hidden)
        activated = packed.activate(hidden, Activation("swish"))
        torch.testing.assert_close(activated, torch.nn.functional.silu(plain))
        torch.testing.assert_close(packed.add_to(other, hidden), other + plain)
        torch.testing.assert_close(packed.multiply_with(other, hidden), other * plain)
