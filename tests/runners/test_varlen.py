"""What torch's `varlen_attn` is handed, with its documented meaning, is plain attention.

The function itself runs on CUDA devices alone; here stands what its documentation says.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.varlen import VarlenAttention
from engine.runners.attention.ways import make_backend
from tests.runners.passes import (
    CPU,
    Heads,
    Rows,
    attend_plainly,
    decode_batch,
    empty_batch,
    make_pass,
)

HEADS = Heads(6, 2, 8, 8)
OPTIONS = {
    "plain": AttentionOptions(),
    "scaled": AttentionOptions(scaling=0.7),
    "windowed": AttentionOptions(window=5),
}
PASSES = {
    "decodes": [Rows(1, 0), Rows(1, 3), Rows(1, 40)],
    "all together": [Rows(1, 2), Rows(1, 33), Rows(3, 0), Rows(9, 20)],
    "a padded batch": [Rows(9, 0), Rows(9, 0, 4), Rows(9, 3, 8)],
    "padded dead rows": [Rows(5, 9, 5), Rows(5, 4)],
}


def documented(
    query,
    key,
    value,
    cu_seq_q,
    cu_seq_k,
    max_q,
    max_k,
    *,
    scale,
    window_size,
    enable_gqa,
    seqused_k,
    block_table,
    num_splits,
):
    """Rows end where their keys end; a row sees `window_size[0]` keys before its own."""
    assert (cu_seq_k, enable_gqa, num_splits) == (None, True, 1)
    num_groups = query.shape[1] // key.shape[2]
    outputs = []
    for row, (start, end) in enumerate(pairwise(cu_seq_q)):
        assert end - start <= max_q
        assert seqused_k[row] <= max_k
        keys, values = (
            side[block_table[row].long()].flatten(0, 1)[: seqused_k[row]].double()
            for side in (key, value)
        )
        scores = torch.einsum(
            "qhd,khd->hqk", query[start:end].double(), keys.repeat_interleave(num_groups, 1)
        )
        at = torch.arange(end - start)[:, None] + seqused_k[row] - (end - start)
        seen = torch.arange(len(keys))
        is_hidden = seen > at
        if window_size[0] >= 0:
            is_hidden |= seen < at - window_size[0]
        scores = scores * (scale or query.shape[2] ** -0.5)
        weights = scores.masked_fill(is_hidden, float("-inf")).softmax(-1).nan_to_num(0.0)
        outputs.append(
            torch.einsum("hqk,khd->qhd", weights, values.repeat_interleave(num_groups, 1))
        )
    return torch.cat(outputs).to(query.dtype)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("rows", PASSES.values(), ids=PASSES)
def test_every_result_that_counts_is_that_of_plain_attention(rows, options):
    made = make_pass(rows, HEADS, leftovers=0.0)

    output = made.attend(VarlenAttention(4, CPU, documented), options)

    expected = attend_plainly(made, options)
    torch.testing.assert_close(output[made.live], expected[made.live])
    assert output.isfinite().all()


def test_a_decoding_pass_in_tensors_of_the_caller():
    made = make_pass(PASSES["decodes"], HEADS, leftovers=0.0)
    backend = VarlenAttention(4, CPU, documented)

    backend.begin_decode(decode_batch(made, max_blocks=16))

    output = made.attend_prepared(backend, OPTIONS["plain"])
    torch.testing.assert_close(output, attend_plainly(made, OPTIONS["plain"]))


def test_torch_takes_the_arguments():
    varlen = pytest.importorskip("torch.nn.attention.varlen")
    if "block_table" not in varlen.varlen_attn.__doc__:
        pytest.skip("this torch's varlen_attn knows no paged cache")
    with FakeTensorMode():
        backend = make_backend("varlen", 256, CPU)
        made = make_pass([Rows(1, 300), Rows(1, 0)], HEADS, 256, torch.bfloat16, leftovers=0.0)
        backend.begin_decode(empty_batch(2, max_blocks=4))

        output = made.attend_prepared(backend, OPTIONS["windowed"])

    assert (output.shape, output.dtype) == ((2, 6, 8), torch.bfloat16)
