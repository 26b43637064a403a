"""Random numbers, one independent stream for each purpose."""

from __future__ import annotations

from zlib import crc32

import numpy as np


def stream(seed: int, name: str, purpose: str) -> np.random.Generator:
    """The random numbers of one part of a workload, for one purpose, such as `arrival`.

    Another class beside it or other lengths in it leave its arrivals as they were. Names are
    hashed by CRC, which is the same in every process and release, unlike `hash`.
    """
    entropy = [seed, crc32(name.encode()), crc32(purpose.encode())]
    return np.random.default_rng(np.random.SeedSequence(entropy))
