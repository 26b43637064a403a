"""Random numbers of a request's own: a counter-based stream, so that it can resume anywhere.

The mixing function is that of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from zlib import crc32

from engine.request import Request

MASK = 2**64 - 1
GOLDEN_GAMMA = 0x9E3779B97F4A7C15


def seed_of(request: Request) -> int:
    """The seed that was asked for, or else one that the request's id decides."""
    seed = request.sampling.seed
    return crc32(request.id.encode()) if seed is None else seed


def uniform(seed: int, index: int) -> float:
    """The number at `index` of the stream of `seed`: at least 0 and below 1, in 24 bits.

    So many bits survive the conversion to single precision, in which a device compares them.
    """
    state = _mix((seed + GOLDEN_GAMMA) & MASK)
    return (_mix((state + (index + 1) * GOLDEN_GAMMA) & MASK) >> 40) / 2**24


def _mix(value: int) -> int:
    """Scramble 64 bits."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)
