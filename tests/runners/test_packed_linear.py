"""Packed layers compute what plain ones do, for any number of tokens."""

from __future__ import annotations

import pytest
import torch

from engine.runners.packed_linear import PackedLinear, pack_linears
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


def test_weights_in_another_precision_are_left_alone():
    model = make_model("llama").to(torch.bfloat16)

    pack_linears(model)

    assert PackedLinear not in {type(module) for module in model.modules()}
