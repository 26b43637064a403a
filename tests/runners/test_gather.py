"""Grouped attention over the paged cache equals plain attention, a query at a time."""

from __future__ import annotations

import pytest
import torch

from engine.runners.attention import gather
from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.gather import GatherAttention
from engine.runners.inputs.pack import Span
from tests.runners.passes import CPU, OPTIONS, Pass, Rows, attend_plainly, make_pass

BLOCK_SIZE = 4
# Each row's tokens in the pass and before it, in the order in which passes are packed.
PASSES = {
    "one decode": [(1, 9)],
    "decodes of many lengths": [(1, 0), (1, 1), (1, 3), (1, 4), (1, 17), (1, 40)],
    "a prompt": [(7, 0)],
    "prompts of one width": [(5, 0), (5, 0)],
    "prompts of two widths": [(3, 0), (8, 0)],
    "a chunk": [(6, 13)],
    "chunks of one width": [(4, 2), (4, 9), (4, 30)],
    "all together": [(1, 2), (1, 33), (3, 0), (3, 0), (3, 11), (9, 0), (9, 20)],
}


def make_gathered(rows: list[tuple[int, int]]) -> Pass:
    """What others left is large, but a number: a masked key counts zero times."""
    return make_pass([Rows(*row) for row in rows], block_size=BLOCK_SIZE, leftovers=1e3)


def attend(made: Pass, options: AttentionOptions) -> torch.Tensor:
    return made.attend(GatherAttention(BLOCK_SIZE, CPU), options)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("rows", PASSES.values(), ids=PASSES)
def test_it_equals_plain_attention(rows, options):
    made = make_gathered(rows)

    torch.testing.assert_close(attend(made, options), attend_plainly(made, options))


@pytest.mark.parametrize("group_bytes", [1, 5_000, 10**9])
def test_the_size_of_a_group_changes_nothing(monkeypatch, group_bytes):
    monkeypatch.setattr(gather, "CPU_GROUP_BYTES", group_bytes)
    made = make_gathered(PASSES["all together"])

    options = AttentionOptions()
    torch.testing.assert_close(attend(made, options), attend_plainly(made, options))


def test_one_backend_serves_layers_of_different_kinds_in_one_pass():
    made = make_gathered(PASSES["all together"])
    backend = GatherAttention(BLOCK_SIZE, CPU)
    backend.begin(made.spans)

    for options in (*OPTIONS.values(), *OPTIONS.values()):
        output = made.attend_prepared(backend, options)
        torch.testing.assert_close(output, attend_plainly(made, options))


def test_padding_sees_what_its_rows_last_token_sees():
    made = make_gathered([(1, 9)])
    padded = Span(0, 3, 9, 10, made.spans[0].block_table)
    made.query = made.query.repeat(3, 1, 1)
    expected = attend(made, AttentionOptions())

    backend = GatherAttention(BLOCK_SIZE, CPU)
    backend.begin([padded])
    shape = made.cache.shape
    key = torch.zeros(3, shape.num_kv_heads, shape.key_dim)
    value = torch.zeros(3, shape.num_kv_heads, shape.value_dim)
    output = backend.attend(made.query, key, value, made.cache, AttentionOptions())

    torch.testing.assert_close(output, expected[:1].expand(3, -1, -1))
