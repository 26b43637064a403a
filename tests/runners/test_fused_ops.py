"""Norm, rotation and gate, by fused kernels and by torch, give what transformers' modules give."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import gelu, silu
from transformers.models.llama.modeling_llama import LlamaRMSNorm, apply_rotary_pos_emb

pytest.importorskip("triton", reason="triton is not installed")
from engine.runners.layers import plain_ops
from engine.runners.triton import fused_ops

pytestmark = pytest.mark.parametrize("ops", [plain_ops, fused_ops], ids=["plain", "fused"])

DTYPES = [torch.float32, torch.bfloat16, torch.float16]
EPSILON = 1e-2


def draw(*size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(sum(size))).to(dtype)


def make_norm(width: int, dtype: torch.dtype) -> LlamaRMSNorm:
    norm = LlamaRMSNorm(width, eps=EPSILON).to(dtype)
    norm.weight.data = draw(width, dtype=dtype)
    return norm


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [(1, 32), (5, 48), (1, 5, 4, 16)], ids=str)
def test_a_norm_is_that_of_transformers(size, dtype, ops):
    norm, hidden = make_norm(size[-1], dtype), draw(*size, dtype=dtype)

    with torch.inference_mode():
        torch.testing.assert_close(ops.normalise(hidden, norm.weight, EPSILON), norm(hidden))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_sum_is_kept_and_normalised(dtype, ops):
    norm, hidden, addend = make_norm(48, dtype), draw(3, 48, dtype=dtype), draw(3, 48, dtype=dtype)

    with torch.inference_mode():
        summed, normed = ops.add_and_normalise(hidden, -2 * addend, norm.weight, EPSILON)

        torch.testing.assert_close(summed, hidden - 2 * addend)
        torch.testing.assert_close(normed, norm(hidden - 2 * addend))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("head_dim", [16, 24])
@pytest.mark.parametrize("has_norm", [False, True])
def test_heads_turn_as_in_transformers(head_dim, has_norm, dtype, ops):
    heads, angles = draw(5, 7, head_dim, dtype=dtype), draw(5, head_dim // 2)
    cos, sin = (torch.cat((part, part), 1).to(dtype) for part in (angles.cos(), angles.sin()))
    norm = make_norm(head_dim, dtype)
    turning = heads[:, :6].transpose(0, 1)[None]
    with torch.inference_mode():
        before = norm(turning) if has_norm else turning
        expected, _ = apply_rotary_pos_emb(before, before, cos[None], sin[None])

        weights = norm.weight.expand(6, -1).contiguous() if has_norm else None
        turned = ops.turn(heads, cos, sin, 6, weights, EPSILON)

    tolerance = {"rtol": 0.02, "atol": 0.02} if dtype is not torch.float32 else {}
    torch.testing.assert_close(turned, expected[0].transpose(0, 1), **tolerance)


def test_dimensions_beyond_the_angles_stay_as_they_are(ops):
    heads, angles = draw(2, 3, 16), draw(2, 4)
    cos, sin = (torch.cat((part, part), 1) for part in (angles.cos(), angles.sin()))

    turned = ops.turn(heads, cos, sin, 3)

    assert turned[..., 8:].equal(heads[..., 8:])
    assert not torch.isclose(turned[..., :8], heads[..., :8]).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("name", "activate"),
    [
        ("swish", silu),
        ("gelu none", gelu),
        ("gelu tanh", lambda gate: gelu(gate, approximate="tanh")),
    ],
)
@pytest.mark.parametrize("width", [40, 1500])
def test_a_gate_multiplies_by_the_activation(name, activate, width, dtype, ops):
    both = 20 * draw(3, 2 * width, dtype=dtype)

    gated = ops.gate(both, name)

    expected = activate(both[:, :width]) * both[:, width:]
    torch.testing.assert_close(
        gated, expected, rtol=2e-2 if dtype is not torch.float32 else 1e-5, atol=1e-4
    )
