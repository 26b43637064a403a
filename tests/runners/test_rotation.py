"""Heads turn as transformers turns them."""

from __future__ import annotations

import pytest
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from engine.runners.layers.rotation import Embeddings, Rotation


def make_embeddings(num_tokens: int, num_turning: int) -> Embeddings:
    angles = torch.rand(1, num_tokens, num_turning // 2).repeat(1, 1, 2)
    return angles.cos(), angles.sin()


@pytest.mark.parametrize("num_tokens", [0, 1, 5])
def test_all_heads_turn_as_in_transformers(num_tokens):
    torch.manual_seed(0)
    heads, (cos, sin) = torch.randn(1, num_tokens, 3, 16), make_embeddings(num_tokens, 16)

    turned = Rotation().turn(heads, (cos, sin))

    expected, _ = apply_rotary_pos_emb(heads, heads, cos, sin, unsqueeze_dim=2)
    torch.testing.assert_close(turned, expected)


def test_dimensions_without_an_angle_stay_where_they_are():
    torch.manual_seed(0)
    heads, embeddings = torch.randn(1, 5, 3, 16), make_embeddings(5, 8)

    turned = Rotation().turn(heads, embeddings)

    torch.testing.assert_close(turned[..., 8:], heads[..., 8:])
    torch.testing.assert_close(turned[..., :8], Rotation().turn(heads[..., :8], embeddings))


def test_the_next_pass_brings_angles_of_its_own():
    torch.manual_seed(0)
    rotation, heads = Rotation(), torch.randn(1, 5, 3, 16)
    first, second = make_embeddings(5, 16), make_embeddings(5, 16)

    rotation.turn(heads, first)

    torch.testing.assert_close(rotation.turn(heads, second), Rotation().turn(heads, second))
