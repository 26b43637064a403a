"""The Triton kernel, interpreted, in crossed shapes, features, precisions, blocks and splits.

Every pair of choices of two kinds occurs, and what else a case has is drawn with a fixed seed
(pairwise testing: Cohen et al. 1997, "The AETG system").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import pytest
import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.triton.paged_launch import LayerKind, Splitting
from engine.runners.triton.tiles import Tiles
from tests.runners.passes import CPU, Heads, Rows, attend_plainly, decode_batch, make_pass

pytest.importorskip("triton", reason="triton is not installed")
from engine.runners.triton.paged_triton import TritonAttention

KINDS: Mapping[str, Mapping[str, Any]] = {
    "rows": {
        "one decode": [Rows(1, 37)],
        "decodes": [Rows(1, 0), Rows(1, 15), Rows(1, 70)],
        "a prompt": [Rows(7, 0)],
        "a chunk": [Rows(5, 30)],
        "ragged": [Rows(1, 2), Rows(1, 65), Rows(3, 0), Rows(9, 20)],
        "padded": [Rows(6, 0, 2), Rows(6, 9, 6)],
        "dead": [Rows(1, 9, 1), Rows(1, 40, 1)],
    },
    "heads": {
        "no groups": Heads(2, 2, 16, 16),
        "groups of two": Heads(4, 2, 16, 16),
        "groups of three": Heads(3, 1, 24, 24),
        "groups of eight": Heads(8, 1, 32, 32),
        "wide values": Heads(2, 1, 8, 40),
        "wide keys": Heads(4, 2, 48, 24),
    },
    "window": {"no window": None, "of one": 1, "of eleven": 11, "beyond all": 500},
    "softcap": {"no cap": None, "cap": 2.0},
    "sinks": {"no sinks": False, "sinks": True},
    "scaling": {"usual": None, "scaled": 0.4},
    "dtype": {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16},
    "block_size": {"8": 8, "16": 16, "32": 32, "256": 256},
    "splitting": {"whole": Splitting(16, 1), "split": Splitting(16, 4)},
    "tiles": {"narrow": Tiles(16, 16), "the table's": None},
    "tables": {"spans": False, "a graph's": True},  # of decoding rows
}
TOLERANCES = {
    torch.float32: {"rtol": 1e-5, "atol": 1e-5},
    torch.float16: {"rtol": 3e-3, "atol": 3e-3},
    torch.bfloat16: {"rtol": 2e-2, "atol": 2e-2},
}
NUM_CANDIDATES = 30  # drawn for a case, of which the one with most new pairs is taken
Case = tuple[str, ...]  # a name of each kind


def pairs_of(case: Case) -> set[tuple[tuple[int, str], tuple[int, str]]]:
    """What it crosses: each two of its choices."""
    return set(combinations(enumerate(case), 2))


def all_pairs() -> set[tuple[tuple[int, str], tuple[int, str]]]:
    return {
        ((first, one), (second, other))
        for (first, ones), (second, others) in combinations(enumerate(KINDS.values()), 2)
        for one in ones
        for other in others
    }


def draw_cases(seed: int = 0) -> list[Case]:
    """Cases that cross every two choices, each with a pair that none before it has."""
    rng, missing, cases = Random(seed), all_pairs(), []
    while missing:
        wanted = dict(min(missing))
        candidates = [
            tuple(
                wanted.get(at) or rng.choice(list(names)) for at, names in enumerate(KINDS.values())
            )
            for _ in range(NUM_CANDIDATES)
        ]
        best = max(candidates, key=lambda case: len(pairs_of(case) & missing))
        cases.append(best)
        missing -= pairs_of(best)
    return cases


CASES = [case for seed in range(5) for case in draw_cases(seed)]


def test_every_two_choices_occur_together():
    crossed = set().union(*map(pairs_of, CASES))

    assert crossed == all_pairs()
    assert len(set(CASES)) > 200


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_it_equals_plain_attention(case):
    chosen = {kind: KINDS[kind][name] for kind, name in zip(KINDS, case, strict=True)}
    heads, dtype, block_size = chosen["heads"], chosen["dtype"], chosen["block_size"]
    made = make_pass(chosen["rows"], heads, block_size, dtype)
    options = AttentionOptions(chosen["scaling"], chosen["window"], chosen["softcap"])
    if chosen["sinks"]:
        options = replace(options, sinks=torch.linspace(-1, 2, heads.num_heads).to(dtype))
    backend = make_backend(block_size, chosen["splitting"], chosen["tiles"])

    if chosen["tables"] and all(span.num_tokens == 1 for span in made.spans):
        backend.begin_decode(decode_batch(made, max_blocks=16))
    else:
        backend.begin(made.spans)

    output = made.attend_prepared(backend, options)
    torch.testing.assert_close(output, attend_plainly(made, options), **TOLERANCES[dtype])


def make_backend(block_size: int, splitting: Splitting, tiles: Tiles | None) -> TritonAttention:
    def choose(kind: LayerKind, /, *, is_decode: bool) -> Tiles:
        return tiles or kind.tiles(is_decode=is_decode)

    return TritonAttention(block_size, CPU, splitting=splitting, choose_tiles=choose)
