"""The Triton kernel that stores new keys and values in the paged cache, both in one launch."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize_on_alignment=("slots",))
def write_kernel(
    entries,  # [slots, K, KEY_DIM + VALUE_DIM], contiguous
    slots,  # [T] in 64 bits
    key,  # [T, K, KEY_DIM], by strides
    value,  # [T, K, VALUE_DIM], by strides
    key_token_stride,
    key_head_stride,
    value_token_stride,
    value_head_stride,
    NUM_KV_HEADS: tl.constexpr,
    KEY_DIM: tl.constexpr,
    VALUE_DIM: tl.constexpr,
    KEY_PAD: tl.constexpr,  # the next power of two
    VALUE_PAD: tl.constexpr,
):
    """Copy one head's key and value of one token: programs are (token, key/value head)."""
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    entry = (tl.load(slots + token) * NUM_KV_HEADS + head) * (KEY_DIM + VALUE_DIM)
    dim = tl.arange(0, KEY_PAD)
    own = key + token * key_token_stride + head * key_head_stride
    tl.store(entries + entry + dim, tl.load(own + dim, mask=dim < KEY_DIM), mask=dim < KEY_DIM)
    dim = tl.arange(0, VALUE_PAD)
    own = value + token * value_token_stride + head * value_head_stride
    there = entries + entry + KEY_DIM + dim
    tl.store(there, tl.load(own + dim, mask=dim < VALUE_DIM), mask=dim < VALUE_DIM)
