"""Our own attention over the paged cache equals plain attention, a query at a time."""

from __future__ import annotations

import pytest
import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.native.attention import NativeAttention
from tests.runners.native_kernels import make_native
from tests.runners.passes import CPU, OPTIONS, Heads, Pass, Rows, attend_plainly, make_pass
from tests.runners.test_gather import BLOCK_SIZE, PASSES

HEADS = {
    "three share a key": Heads(6, 2, 16, 32),
    "each its own": Heads(6, 6, 16, 16),
    "two share wide ones": Heads(6, 3, 64, 64),
    "all six share one": Heads(6, 1, 80, 144),
}


def attend(made: Pass, options: AttentionOptions, num_threads: int = 1) -> torch.Tensor:
    kernels = make_native(made.query.dtype, num_threads).kernels
    return made.attend(NativeAttention(BLOCK_SIZE, CPU, kernels), options)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("rows", PASSES.values(), ids=PASSES)
def test_it_equals_plain_attention(rows, options):
    made = make_pass(
        [Rows(*row) for row in rows],
        HEADS["three share a key"],
        block_size=BLOCK_SIZE,
        leftovers=1e3,
    )

    torch.testing.assert_close(attend(made, options), attend_plainly(made, options))


@pytest.mark.parametrize("heads", HEADS.values(), ids=HEADS)
def test_any_number_of_heads_share_a_key_of_any_width(heads):
    made = make_pass([Rows(1, 3), Rows(1, 37)], heads, block_size=BLOCK_SIZE)

    for options in OPTIONS.values():
        torch.testing.assert_close(attend(made, options), attend_plainly(made, options))


def test_several_threads_compute_the_same():
    made = make_pass([Rows(1, 3), Rows(1, 37)], HEADS["two share wide ones"], BLOCK_SIZE)

    for options in OPTIONS.values():
        assert torch.equal(attend(made, options, num_threads=3), attend(made, options))


def test_in_bfloat16_it_is_as_exact_as_the_result_is_rounded():
    rows = [Rows(1, 5), Rows(1, 60)]
    made = make_pass(rows, Heads(6, 2, 64, 64), BLOCK_SIZE, torch.bfloat16)

    output = attend(made, AttentionOptions())

    expected = attend_plainly(made, AttentionOptions())
    torch.testing.assert_close(output, expected, atol=1e-3, rtol=2**-7)


def test_a_dead_row_attends_to_what_it_has():
    alive = make_pass([Rows(1, 9)], HEADS["three share a key"], block_size=BLOCK_SIZE)
    dead = make_pass([Rows(1, 10, 1)], HEADS["three share a key"], block_size=BLOCK_SIZE)
    dead.query = alive.query

    torch.testing.assert_close(attend(dead, AttentionOptions()), attend(alive, AttentionOptions()))


def test_nothing_behind_a_context_is_read():
    made = make_pass([Rows(1, 8)], HEADS["three share a key"], BLOCK_SIZE, leftovers=float("nan"))

    assert attend(made, AttentionOptions()).isfinite().all()
