"""The Triton kernels of paged attention: one for rows of any length, one that joins splits.

A row is a sequence's tokens of this pass: one for a decoding row, many for a chunk of a prompt.
Programs share the work as (tile of a row's queries) x (key/value head) x (workers on a long
context). The heads of a group are rows of one tile, so that each key is read once for all of
them. Online softmax over tiles of keys as in FlashAttention-2 (Dao 2023, algorithm 1), a row found
by its tile as in vLLM's unified Triton kernel, long contexts split and joined as in Flash-Decoding
(Dao et al. 2023).

How a context is split depends on its own length alone, and a worker takes several splits in turn
where there are fewer workers. So in passes of one kind, decoding or not, neither the company nor
the number of workers changes a bit of a row's result, and one captured launch serves contexts of
any length.

Scores are kept in units of log 2, since `exp2` is what the hardware has.
"""

from __future__ import annotations

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
# What changes from pass to pass: a kernel compiled for each kind of value would stall the pass.
UNSPECIALISED = ("num_rows", "num_split_rows", "table_stride", "max_splits", "window")
UNALIGNED = ("block_tables", "kv_lens", "num_computed", "query_starts", "sinks")


@triton.jit(do_not_specialize=UNSPECIALISED, do_not_specialize_on_alignment=UNALIGNED)
def attend_kernel(
    query,  # [T, H, KEY_DIM]
    keys,  # [blocks, BLOCK_SIZE, K, KEY_DIM], by strides
    values,  # [blocks, BLOCK_SIZE, K, VALUE_DIM], by the same strides
    output,  # [T, H, VALUE_DIM], contiguous
    partial_output,  # [split rows, H, max_splits, VALUE_DIM] in float32
    partial_max,  # [split rows, H, max_splits]
    partial_sum,  # like partial_max
    block_tables,  # [R, table_stride]
    kv_lens,  # [R]
    num_computed,  # [R]; not read when decoding
    query_starts,  # [R + 1]; not read when decoding
    sinks,  # [H]
    num_rows,
    num_split_rows,  # so many rows from the first have one token and may be split
    table_stride,
    max_splits,
    window,
    scale,
    softcap,
    query_token_stride,
    query_head_stride,
    block_stride,
    slot_stride,
    head_stride,
    NUM_HEADS: tl.constexpr,
    NUM_GROUPS: tl.constexpr,
    KEY_DIM: tl.constexpr,
    VALUE_DIM: tl.constexpr,
    KEY_PAD: tl.constexpr,  # the next power of two
    VALUE_PAD: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    BLOCK_M: tl.constexpr,  # (query, head of the group) pairs a tile
    BLOCK_N: tl.constexpr,  # keys a tile
    IS_DECODE: tl.constexpr,  # every row has one token
    HAS_WINDOW: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    HAS_SINKS: tl.constexpr,
    SPLIT_TOKENS: tl.constexpr,
    MAX_SPLITS: tl.constexpr,
    PRECISION: tl.constexpr,  # of float32 products: ieee or tf32
    UPCAST: tl.constexpr,  # interpreted bfloat16 products are wrong
):
    """Attend: programs are (tile of queries, key/value head, worker on the row's splits).

    A row that is split leaves its results to `combine_kernel`, in the partial tensors.
    """
    BLOCK_Q: tl.constexpr = BLOCK_M // NUM_GROUPS
    kv_head = tl.program_id(1)
    worker = tl.program_id(2)
    tile = tl.program_id(0)
    row = tile if IS_DECODE else _find_row(query_starts, tile, num_rows, BLOCK_Q)
    kv_len = tl.load(kv_lens + row)
    row_start, num_tokens, first, before = row, 1, 0, kv_len - 1
    if not IS_DECODE:
        row_start = tl.load(query_starts + row)
        num_tokens = tl.load(query_starts + row + 1) - row_start
        first = (tile - (row_start // BLOCK_Q + row)) * BLOCK_Q
        if first >= num_tokens:
            return
        before = tl.load(num_computed + row)

    pair = tl.arange(0, BLOCK_M)
    token = first + pair // NUM_GROUPS
    head = kv_head * NUM_GROUPS + pair % NUM_GROUPS
    is_query = (token < num_tokens) & (pair < BLOCK_Q * NUM_GROUPS)
    key_dim = tl.arange(0, KEY_PAD)
    value_dim = tl.arange(0, VALUE_PAD)
    at = (row_start + token).to(tl.int64) * query_token_stride
    at += (
        head.to(tl.int64) * query_head_stride
    )  # beyond 2^31 in a pass of 131k tokens and 128 heads
    tile_query = tl.load(
        query + at[:, None] + key_dim[None, :],
        mask=is_query[:, None] & (key_dim < KEY_DIM)[None, :],
        other=0.0,
    )
    # Padding stands where its row's last token stands.
    position = tl.minimum(before + token, kv_len - 1)
    end = tl.minimum(before + tl.minimum(first + BLOCK_Q, num_tokens), kv_len)
    begin = _first_seen(tl.minimum(before + first, kv_len - 1), window, BLOCK_N, HAS_WINDOW)

    num_splits = 1
    if row < num_split_rows:
        num_splits = _count_splits(end - begin, SPLIT_TOKENS, MAX_SPLITS)
    if worker >= num_splits:
        return
    split_len = tl.cdiv(tl.cdiv(end - begin, num_splits), BLOCK_N) * BLOCK_N
    for split in range(worker, num_splits, tl.num_programs(2)):
        split_begin = begin + split * split_len
        total, highest, weights = _attend_range(
            tile_query,
            keys + kv_head * head_stride,
            values + kv_head * head_stride,
            block_tables + row.to(tl.int64) * table_stride,
            position,
            split_begin,
            tl.minimum(split_begin + split_len, end),
            window,
            scale,
            softcap,
            block_stride,
            slot_stride,
            key_dim,
            value_dim,
            KEY_DIM,
            VALUE_DIM,
            BLOCK_SIZE,
            BLOCK_M,
            BLOCK_N,
            HAS_WINDOW,
            HAS_SOFTCAP,
            PRECISION,
            UPCAST,
        )
        is_output = is_query[:, None] & (value_dim < VALUE_DIM)[None, :]
        if num_splits == 1:
            result = _finish(total, highest, weights, sinks, head, HAS_SINKS)
            result = result.to(output.dtype.element_ty)
            out = ((row_start + token).to(tl.int64) * NUM_HEADS + head) * VALUE_DIM
            tl.store(output + out[:, None] + value_dim[None, :], result, mask=is_output)
        else:
            part = (row * NUM_HEADS + head).to(tl.int64) * max_splits + split
            tl.store(partial_max + part, highest, mask=is_query)
            tl.store(partial_sum + part, weights, mask=is_query)
            parts = partial_output + part[:, None] * VALUE_DIM + value_dim[None, :]
            tl.store(parts, total, mask=is_output)


@triton.jit(
    do_not_specialize=("max_splits", "window"),
    do_not_specialize_on_alignment=("kv_lens", "sinks"),
)
def combine_kernel(
    output,  # [T, H, VALUE_DIM], contiguous; row i is token i
    partial_output,  # [rows, H, max_splits, VALUE_DIM] in float32
    partial_max,  # [rows, H, max_splits]
    partial_sum,  # like partial_max
    kv_lens,  # [rows]
    sinks,  # [H]
    max_splits,
    window,
    NUM_HEADS: tl.constexpr,
    VALUE_DIM: tl.constexpr,
    VALUE_PAD: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HAS_WINDOW: tl.constexpr,
    HAS_SINKS: tl.constexpr,
    SPLIT_TOKENS: tl.constexpr,
    MAX_SPLITS: tl.constexpr,  # a power of two
):
    """Join the splits of one row and head, where there is more than one."""
    row = tl.program_id(0)
    head = tl.program_id(1)
    kv_len = tl.load(kv_lens + row)
    begin = _first_seen(kv_len - 1, window, BLOCK_N, HAS_WINDOW)
    num_splits = _count_splits(kv_len - begin, SPLIT_TOKENS, MAX_SPLITS)
    if num_splits == 1:
        return
    split = tl.arange(0, MAX_SPLITS)
    is_split = split < num_splits
    at = (row * NUM_HEADS + head).to(tl.int64) * max_splits + split
    highest = tl.load(partial_max + at, mask=is_split, other=-float("inf"))
    weights = tl.load(partial_sum + at, mask=is_split, other=0.0)
    top = tl.max(highest, 0)
    if HAS_SINKS:
        sink = tl.load(sinks + head).to(tl.float32) * LOG2_E
        top = tl.maximum(top, sink)
    share = tl.exp2(highest - top)
    total_weight = tl.sum(share * weights, 0)
    if HAS_SINKS:
        total_weight += tl.exp2(sink - top)
    dim = tl.arange(0, VALUE_PAD)
    parts = tl.load(
        partial_output + at[:, None] * VALUE_DIM + dim[None, :],
        mask=is_split[:, None] & (dim < VALUE_DIM)[None, :],
        other=0.0,
    )
    result = tl.sum(parts * share[:, None], 0) / total_weight
    at = (row * NUM_HEADS + head).to(tl.int64) * VALUE_DIM
    tl.store(output + at + dim, result.to(output.dtype.element_ty), mask=dim < VALUE_DIM)


@triton.jit
def _find_row(query_starts, tile, num_rows, BLOCK_Q: tl.constexpr):
    """The row that a tile belongs to: row i has its tiles from `starts[i] // BLOCK_Q + i` on."""
    low = 0
    high = num_rows
    while low < high:
        middle = (low + high) // 2
        if tl.load(query_starts + middle) // BLOCK_Q + middle <= tile:
            low = middle + 1
        else:
            high = middle
    return low - 1


@triton.jit
def _first_seen(position, window, BLOCK_N: tl.constexpr, HAS_WINDOW: tl.constexpr):
    """Where the tiles of keys begin: tiles lie at multiples of their size."""
    first = 0
    if HAS_WINDOW:
        first = tl.maximum(position - window + 1, 0) // BLOCK_N * BLOCK_N
    return first


@triton.jit
def _count_splits(num_keys, SPLIT_TOKENS: tl.constexpr, MAX_SPLITS: tl.constexpr):
    """In how many parts a context of that length is attended to."""
    return tl.minimum(tl.maximum(tl.cdiv(num_keys, SPLIT_TOKENS), 1), MAX_SPLITS)


@triton.jit
def _attend_range(
    query,
    keys,
    values,
    block_table,
    position,
    begin,
    end,
    window,
    scale,
    softcap,
    block_stride,
    slot_stride,
    key_dim,
    value_dim,
    KEY_DIM: tl.constexpr,
    VALUE_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HAS_WINDOW: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    PRECISION: tl.constexpr,
    UPCAST: tl.constexpr,
):
    """Attend to the keys from `begin` to `end`: sum of values, highest score, sum of weights."""
    total = tl.zeros((BLOCK_M, value_dim.shape[0]), tl.float32)
    highest = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    weights = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(begin, end, BLOCK_N):
        slot = start + tl.arange(0, BLOCK_N)
        is_key = slot < end
        block = tl.load(block_table + slot // BLOCK_SIZE, mask=is_key, other=0).to(tl.int64)
        at = block * block_stride + slot % BLOCK_SIZE * slot_stride
        key = tl.load(
            keys + at[None, :] + key_dim[:, None],
            mask=is_key[None, :] & (key_dim < KEY_DIM)[:, None],
            other=0.0,
        )
        score = _product(query, key, PRECISION, UPCAST) * scale
        if HAS_SOFTCAP:
            score = softcap * _tanh(score / softcap)
        is_seen = is_key[None, :] & (slot[None, :] <= position[:, None])
        if HAS_WINDOW:
            is_seen = is_seen & (slot[None, :] > position[:, None] - window)
        score = tl.where(is_seen, score * LOG2_E, -float("inf"))
        new_highest = tl.maximum(highest, tl.max(score, 1))
        # A query that has seen no key yet: any finite number keeps the weights at 0.
        base = tl.where(new_highest == -float("inf"), 0.0, new_highest)
        weight = tl.exp2(score - base[:, None])
        decay = tl.exp2(highest - base)
        value = tl.load(
            values + at[:, None] + value_dim[None, :],
            mask=is_key[:, None] & (value_dim < VALUE_DIM)[None, :],
            other=0.0,
        )
        total = total * decay[:, None] + _product(weight.to(value.dtype), value, PRECISION, UPCAST)
        weights = weights * decay + tl.sum(weight, 1)
        highest = new_highest
    return total, highest, weights


@triton.jit
def _product(left, right, PRECISION: tl.constexpr, UPCAST: tl.constexpr):
    if UPCAST:
        left = left.to(tl.float32)
        right = right.to(tl.float32)
    return tl.dot(left, right, input_precision=PRECISION)


@triton.jit
def _tanh(x):
    """Tanh that never overflows."""
    decay = tl.exp2(tl.abs(x) * (-2.0 * LOG2_E))
    size = (1.0 - decay) / (1.0 + decay)
    return tl.where(x < 0, -size, size)


@triton.jit
def _finish(total, highest, weights, sinks, head, HAS_SINKS: tl.constexpr):
    """The weighted mean; a sink is a score that takes its share and yields nothing."""
    if HAS_SINKS:
        sink = tl.load(sinks + head).to(tl.float32) * LOG2_E
        top = tl.maximum(highest, sink)
        decay = tl.exp2(highest - top)
        total = total * decay[:, None]
        weights = weights * decay + tl.exp2(sink - top)
    return total / tl.where(weights > 0, weights, 1.0)[:, None]
