"""The norm of few operations gives what transformers' own gives."""

from __future__ import annotations

import pytest
import torch
from transformers.models.llama.modeling_llama import LlamaRMSNorm

from engine.runners.layers.rms_norm import RmsNorm


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("size", [(1, 0, 32), (1, 5, 32), (1, 5, 4, 32)], ids=str)
def test_it_normalises_as_transformers_does(dtype, size):
    torch.manual_seed(0)
    original = LlamaRMSNorm(32, eps=1e-2).to(dtype)
    torch.nn.init.normal_(original.weight)
    hidden = torch.randn(size).to(dtype)

    norm = RmsNorm.of(original)

    with torch.inference_mode():
        torch.testing.assert_close(norm(hidden), original(hidden))


def test_a_weight_may_differ_by_head():
    weight, hidden = torch.tensor([[1.0], [3.0]]).expand(2, 16), torch.ones(1, 1, 2, 16)

    normed = RmsNorm(weight, 0.0)(hidden)

    torch.testing.assert_close(normed, weight[None, None])


def test_other_modules_are_not_norms():
    assert RmsNorm.of(torch.nn.Linear(4, 4)) is None
    assert RmsNorm.of(torch.nn.LayerNorm(4)) is None
