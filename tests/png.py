"""`read_png`: the pixels of a picture that a browser took; 8 bits a channel, not interlaced.

After the Portable Network Graphics specification (W3C, second edition 2003), sections 5 and 9.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

CHANNELS = {2: 3, 6: 4}  # by colour type: RGB and RGBA


def read_png(data: bytes) -> np.ndarray:
    """Pixels as [height, width, 3], in bytes; transparency is left out."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "this is no PNG"
    packed, at = b"", 8
    width = height = channels = 0
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert (depth, interlace) == (8, 0)
            channels = CHANNELS[colour]
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    above, picture = bytes(width * channels), []
    for row in rows:
        above = _unfilter(row[0], row[1:].tobytes(), above, channels)
        picture.append(above)
    pixels = np.frombuffer(b"".join(picture), np.uint8)
    return pixels.reshape(height, width, channels)[..., :3]


def _unfilter(kind: int, row: bytes, above: bytes, step: int) -> bytes:
    """A line as it was, from what stands beside and above each byte of it."""
    if kind == 0:
        return row
    line = bytearray(row)
    for at, byte in enumerate(row):
        left = line[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        guess = (left, above[at], (left + above[at]) // 2, _paeth(left, above[at], corner))
        line[at] = (byte + guess[kind - 1]) & 255
    return bytes(line)


def _paeth(left: int, up: int, corner: int) -> int:
    """Whichever of three is nearest to their plane."""
    plane = left + up - corner
    return min((left, up, corner), key=lambda value: abs(plane - value))
