"""Random numbers of a request's own: a counter-based stream, so that it can resume anywhere.

The mixing function is that of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
import numpy.typing as npt

from engine.request import Request

MASK = 2**64 - 1
GOLDEN_GAMMA = 0x9E3779B97F4A7C15
UInts = npt.NDArray[np.uint64]


def seed_of(request: Request) -> int:
    """The seed that was asked for, or else one that the request's id decides."""
    seed = request.sampling.seed
    return crc32(request.id.encode()) if seed is None else seed


def start_of(seed: int) -> int:
    """The state, in 64 bits, in which the stream of a seed begins."""
    return int(_mix(np.array([(seed + GOLDEN_GAMMA) & MASK], np.uint64))[0])


def uniforms(starts: UInts, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The number at an index of each stream: at least 0 and below 1, in 24 bits.

    So many bits survive in single precision, in which a device compares them.

    Args:
        starts: of the streams, from `start_of`.
    """
    counters = starts + (indices.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN_GAMMA)
    return ((_mix(counters) >> np.uint64(40)) / np.float32(2**24)).astype(np.float32)


def _mix(values: UInts) -> UInts:
    """Scramble 64 bits; products wrap around."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
