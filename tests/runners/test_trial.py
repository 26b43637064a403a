"""A trial run takes down what each module was given and gave, and leaves no trace."""

from __future__ import annotations

import torch

from engine.runners.layers.trial import NUM_TOKENS, trying
from tests.runners.builders import SHAPE, WINDOW, make_model


def test_calls_can_be_repeated():
    model = make_model("llama")
    layer = model.model.layers[1]

    with trying(model) as trial:
        call = trial.calls[layer]

    assert call.hidden.shape == (1, NUM_TOKENS, SHAPE["hidden_size"])
    assert call.output.shape == call.hidden.shape


def test_the_options_of_each_attention_are_taken_down():
    model = make_model("gemma3")
    layers = model.model.layers

    with trying(model) as trial:
        options = trial.options

    assert options[layers[0].self_attn]["sliding_window"] == WINDOW
    assert options[layers[1].self_attn]["sliding_window"] is None
    assert options[layers[0].self_attn]["scaling"] == 0.25


def test_the_model_is_left_as_it_was():
    model, ids = make_model("llama"), torch.tensor([[5, 6, 7]])
    before = model(ids).logits

    with trying(model):
        pass

    assert model.config._attn_implementation == "eager"
    assert not any(module._forward_hooks for module in model.modules())
    torch.testing.assert_close(model(ids).logits, before, rtol=0, atol=0)
