"""The floors let through what a slow and plain reading of the three filters lets through."""

from __future__ import annotations

import math

import pytest
import torch

from engine.request import SamplingParams
from engine.runners.sampling.filters import WIDTHS, floors
from tests.runners.builders import sampling_fields

VOCAB_SIZE = 5000
PARAMS = [
    SamplingParams(),
    SamplingParams(top_k=1),
    SamplingParams(top_k=7),
    SamplingParams(top_k=9000),
    SamplingParams(top_p=0.9),
    SamplingParams(top_p=1e-6),
    SamplingParams(top_p=0.999),
    SamplingParams(min_p=0.1),
    SamplingParams(min_p=1.0),
    SamplingParams(top_k=30, top_p=0.7),
    SamplingParams(top_k=400, top_p=0.95, min_p=0.01),
]


def kept_by_reference(logits: list[float], params: SamplingParams) -> set[int]:
    """Which tokens may be drawn, one filter after the other and one token at a time."""
    order = sorted(range(len(logits)), key=lambda token: -logits[token])
    order = order[: params.top_k or len(order)]
    total = sum(math.exp(logits[token]) for token in order)
    kept, reached = [], 0.0
    for token in order:
        if reached >= params.top_p and params.top_p < 1:
            break
        kept.append(token)
        reached += math.exp(logits[token]) / total
    least = params.min_p * math.exp(logits[order[0]])
    return {token for token in kept if math.exp(logits[token]) >= least * (1 - 1e-6)}


@pytest.fixture(params=[WIDTHS, ()], ids=["some at first", "all sorted"], autouse=True)
def widths(request: pytest.FixtureRequest) -> tuple[int, ...]:
    return request.param


def kept(
    logits: torch.Tensor, params: list[SamplingParams], widths: tuple[int, ...]
) -> list[set[int]]:
    probabilities = logits.softmax(dim=-1)
    largest_k = max(p.top_k for p in params)
    enough = tuple(width for width in widths if width >= largest_k)
    is_kept = probabilities >= floors(probabilities, sampling_fields(params), enough)
    return [set(row.nonzero().flatten().tolist()) for row in is_kept]


@pytest.mark.parametrize("spread", [0.3, 3.0], ids=["flat", "peaked"])
def test_each_row_is_filtered_by_its_own_parameters(spread, widths):
    logits = torch.randn(len(PARAMS), VOCAB_SIZE, generator=torch.Generator().manual_seed(1))
    logits *= spread

    expected = [kept_by_reference(row.tolist(), p) for row, p in zip(logits, PARAMS, strict=True)]

    assert kept(logits, PARAMS, widths) == expected


@pytest.mark.parametrize("params", PARAMS, ids=str)
def test_a_row_is_filtered_alike_alone_and_in_company(params, widths):
    logits = torch.randn(len(PARAMS) + 1, VOCAB_SIZE, generator=torch.Generator().manual_seed(2))

    assert kept(logits, [params, *PARAMS], widths)[0] == kept(logits[:1], [params], widths)[0]


def test_a_nucleus_wider_than_the_first_look_is_found(widths):
    logits = torch.zeros(1, VOCAB_SIZE)
    logits[0] -= torch.arange(VOCAB_SIZE) * 1e-4

    assert kept(logits, [SamplingParams(top_p=0.5)], widths)[0] == set(range(2191))


def test_equally_likely_tokens_are_kept_together(widths):
    assert kept(torch.tensor([[2.0, 1.0, 2.0, 1.0]]), [SamplingParams(top_k=1)], widths) == [{0, 2}]


def test_a_token_that_was_ruled_out_stays_out(widths):
    logits = torch.tensor([[float("-inf"), 1.0, 0.0]])

    assert kept(logits, [SamplingParams(top_p=0.99)], widths) == [{1, 2}]
