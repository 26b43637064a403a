"""Triton kernels for what lies between a layer's matrix products, each in one launch.

Numbers are rounded where transformers' own modules round them, except within a rotation, whose
products and sum are rounded once.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def norm_kernel(
    hidden,  # [T, WIDTH]
    addend,  # like hidden
    weight,  # [WIDTH]
    summed,  # like hidden
    output,  # like hidden
    epsilon,
    WIDTH: tl.constexpr,
    PAD: tl.constexpr,  # the next power of two
    HAS_ADDEND: tl.constexpr,
):
    """Divide by the root mean square and multiply by a weight; before that, add, and keep the sum.

    Programs are tokens.
    """
    at = tl.program_id(0).to(tl.int64) * WIDTH + tl.arange(0, PAD)
    is_in = tl.arange(0, PAD) < WIDTH
    value = tl.load(hidden + at, mask=is_in, other=0.0).to(tl.float32)
    if HAS_ADDEND:
        value += tl.load(addend + at, mask=is_in, other=0.0).to(tl.float32)
        value = value.to(output.dtype.element_ty)
        tl.store(summed + at, value, mask=is_in)
        value = value.to(tl.float32)
    factor = tl.load(weight + tl.arange(0, PAD), mask=is_in, other=0.0)
    result = _normalise(value, factor, epsilon, WIDTH, output.dtype.element_ty)
    tl.store(output + at, result, mask=is_in)


@triton.jit
def turn_kernel(
    heads,  # [T, more than NUM_HEADS, HEAD_DIM], by one stride
    cos,  # [T, NUM_ANGLES], the second half like the first
    sin,  # like cos
    weights,  # [NUM_HEADS, HEAD_DIM]
    output,  # [T, NUM_HEADS, HEAD_DIM]
    token_stride,
    epsilon,
    NUM_HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    NUM_ANGLES: tl.constexpr,  # dimensions from the first that turn
    PAD: tl.constexpr,  # HEAD_DIM's next power of two
    HAS_NORM: tl.constexpr,
):
    """Turn the heads of queries and keys by their position; before that, normalise them.

    Programs are (token, head).
    """
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    half: tl.constexpr = NUM_ANGLES // 2
    dim = tl.arange(0, PAD)
    is_dim = dim < HEAD_DIM
    other = tl.where(dim < half, dim + half, tl.where(dim < NUM_ANGLES, dim - half, dim))
    begin = heads + token * token_stride + head * HEAD_DIM
    own_value = tl.load(begin + dim, mask=is_dim, other=0.0).to(tl.float32)
    other_value = tl.load(begin + other, mask=is_dim, other=0.0).to(tl.float32)
    if HAS_NORM:
        dtype: tl.constexpr = output.dtype.element_ty
        own_weight = tl.load(weights + head * HEAD_DIM + dim, mask=is_dim, other=0.0)
        other_weight = tl.load(weights + head * HEAD_DIM + other, mask=is_dim, other=0.0)
        own_value = _normalise(own_value, own_weight, epsilon, HEAD_DIM, dtype).to(tl.float32)
        # A permutation of the same numbers has the same mean square, but for its last bit.
        other_value = _normalise(other_value, other_weight, epsilon, HEAD_DIM, dtype)
        other_value = other_value.to(tl.float32)
    turns = dim < NUM_ANGLES
    cosine = tl.load(cos + token * NUM_ANGLES + dim, mask=turns, other=1.0).to(tl.float32)
    sine = tl.load(sin + token * NUM_ANGLES + dim, mask=turns, other=0.0).to(tl.float32)
    result = own_value * cosine + tl.where(dim < half, -other_value, other_value) * sine
    at = output + (token * NUM_HEADS + head) * HEAD_DIM + dim
    tl.store(at, result.to(output.dtype.element_ty), mask=is_dim)


@triton.jit
def gate_kernel(
    both,  # [T, 2 * WIDTH]: what gates, and behind it what is gated
    output,  # [T, WIDTH]
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    """Multiply by an activation: programs are (token, block of its values)."""
    token = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    is_in = at < WIDTH
    gate = tl.load(both + token * 2 * WIDTH + at, mask=is_in, other=0.0).to(tl.float32)
    value = tl.load(both + token * 2 * WIDTH + WIDTH + at, mask=is_in, other=0.0)
    if ACTIVATION == "swish":
        active = gate * _sigmoid(gate)
    elif ACTIVATION == "gelu tanh":
        inner = 0.7978845608028654 * (gate + 0.044715 * gate * gate * gate)
        active = gate * _sigmoid(2.0 * inner)  # which is (1 + tanh(inner)) / 2
    else:
        active = 0.5 * gate * (1.0 + tl.erf(gate * 0.7071067811865476))
    active = active.to(output.dtype.element_ty).to(tl.float32)
    result = (active * value.to(tl.float32)).to(output.dtype.element_ty)
    tl.store(output + token * WIDTH + at, result, mask=is_in)


@triton.jit
def _sigmoid(x):
    """What never overflows on the way."""
    decay = tl.exp(-tl.abs(x))
    return tl.where(x < 0, decay, 1.0) / (1.0 + decay)


@triton.jit
def _normalise(value, weight, epsilon, WIDTH: tl.constexpr, dtype: tl.constexpr):
    """The root mean square norm of one vector in float32, zeros behind it."""
    scale = tl.rsqrt(tl.sum(value * value, 0) / WIDTH + epsilon)
    normed = (value * scale).to(dtype).to(tl.float32)
    return (normed * weight.to(tl.float32)).to(dtype)
