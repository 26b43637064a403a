"""`Fields`: the inputs of one forward pass as views of one stretch of memory.

The host has such a stretch and the device has another with the same layout, so that a whole pass
goes over in a single copy.

Shapes: T tokens in the pass; R rows that sample; B rows of a decoding pass with M blocks each; E
ids that are ruled out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from engine.runners.inputs.slots import NUM_PARAMETERS

A = TypeVar("A")
ALIGNMENT = 16  # bytes
NOWHERE = -1

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the inputs of a pass are.

    Attributes:
        num_tokens, num_samples: T and R.
        num_ruled_out: E; 0 where every row may end.
        num_blocks: M of a pass that only decodes, whose block tables go along; else 0.
    """

    num_tokens: int
    num_samples: int
    num_ruled_out: int = 0
    num_blocks: int = 0


@dataclass(frozen=True, slots=True)
class Fields(Generic[A]):
    """What the model and the sampler are given.

    Attributes:
        token_ids: [T]; any number where the token is still pending.
        sources: [T]; where in the tokens sampled last a pending token is, else `NOWHERE`.
        positions: in its sequence, [T].
        write_slots: where in the cache each token's key and value go, [T].
        sample_at: index of the token behind which each row samples, [R].
        parameters: of each row, [R, 4] in single precision: temperature, top-p, min-p and top-k;
            no temperature is greedy.
        number: the uniform number that decides, [R].
        ruled_out: ids that must not be sampled, [R, E], filled up with `NOWHERE`.
        block_tables: [B, M] in 32 bits.
        kv_lens: tokens in the cache once the pass has written its own, [B] in 32 bits.
    """

    token_ids: A
    sources: A
    positions: A
    write_slots: A
    sample_at: A
    parameters: A
    number: A
    ruled_out: A
    block_tables: A
    kv_lens: A


def lay_out(
    shape: Shape, view: Callable[[int, np.dtype[np.generic], tuple[int, ...]], A]
) -> Fields[A]:
    """Place the fields one behind the other.

    Args:
        view: of so many bytes from an offset on, as a type and a shape.
    """
    placed: dict[str, A] = {}
    offset = 0
    for name, (dtype, size) in _sizes(shape).items():
        placed[name] = view(offset, dtype, size)
        offset += _stride(dtype, size)
    return Fields(**placed)


def num_bytes(shape: Shape) -> int:
    """What the fields take together."""
    return sum(_stride(dtype, size) for dtype, size in _sizes(shape).values())


def _sizes(shape: Shape) -> dict[str, tuple[np.dtype[np.generic], tuple[int, ...]]]:
    tokens, rows = (shape.num_tokens,), (shape.num_samples,)
    decoding = shape.num_tokens if shape.num_blocks else 0
    long, short, real = np.dtype(np.int64), np.dtype(np.int32), np.dtype(np.float32)
    return {
        "token_ids": (long, tokens),
        "sources": (long, tokens),
        "positions": (long, tokens),
        "write_slots": (long, tokens),
        "sample_at": (long, rows),
        "parameters": (real, (shape.num_samples, NUM_PARAMETERS)),
        "number": (real, rows),
        "ruled_out": (long, (shape.num_samples, shape.num_ruled_out)),
        "block_tables": (short, (decoding, shape.num_blocks)),
        "kv_lens": (short, (decoding,)),
    }


def _stride(dtype: np.dtype[np.generic], size: tuple[int, ...]) -> int:
    taken = prod(size) * dtype.itemsize
    return -(-taken // ALIGNMENT) * ALIGNMENT
