"""Pictures read as they were written, whatever filter each line went through."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from tests.png import read_png

PIXELS = np.random.default_rng(3).integers(0, 256, (6, 5, 3), np.uint8)
BEFORE = {  # how the encoder guesses, from left, above and the corner: the definitions themselves
    0: lambda a, b, c: 0,
    1: lambda a, b, c: a,
    2: lambda a, b, c: b,
    3: lambda a, b, c: (a + b) // 2,
    4: lambda a, b, c: min((a, b, c), key=lambda v: (abs(a + b - c - v), (a, b, c).index(v))),
}


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def encoded(kind):
    padded = np.zeros((7, 6, 3), int)
    padded[1:, 1:] = PIXELS
    lines = b""
    for y in range(1, 7):
        lines += bytes([kind])
        for x in range(1, 6):
            for c in range(3):
                guess = BEFORE[kind](
                    padded[y, x - 1, c], padded[y - 1, x, c], padded[y - 1, x - 1, c]
                )
                lines += bytes([(padded[y, x, c] - guess) % 256])
    head = struct.pack(">IIBBBBB", 5, 6, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("kind", BEFORE)
def test_every_filter_is_undone(kind):
    assert np.array_equal(read_png(encoded(kind)), PIXELS)
