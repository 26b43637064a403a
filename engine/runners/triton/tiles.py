"""How much of attention a program of the Triton kernel takes at once: `choose_tiles`.

A fixed table, so that a model on a device always rounds alike. It is the same for every device:
each entry compiles, without spilling registers, for those with the least shared memory that run
bfloat16 (99 KiB a program), which holds the tile of queries and, twice, tiles of keys and values.
"""

from __future__ import annotations

from dataclasses import dataclass

LEAST_ROWS = 16  # of a matrix product on tensor cores
LEAST_KEYS = 16
KEYS_BY_BYTES = ((512, 64), (1024, 32))  # up to so many bytes of key and value, keys a tile
WIDE_BYTES = 768  # of a key and its value; beyond, a tile's results want more threads
WIDEST_DIMS = 512  # of a key and its value; beyond, a tile has half the rows


@dataclass(frozen=True, slots=True)
class Tiles:
    """One configuration of the kernel.

    Attributes:
        block_m: (query, head of a group) pairs a tile.
        block_n: keys a tile.
        num_warps: of 32 threads, a program.
        num_stages: of the pipeline; 3 is what double-buffers loads that follow a block table.
    """

    block_m: int
    block_n: int
    num_warps: int = 4
    num_stages: int = 3


def choose_tiles(num_groups: int, entry_dims: int, itemsize: int, *, is_decode: bool) -> Tiles:
    """The table.

    Args:
        num_groups: query heads that share a key/value head.
        entry_dims: of a key and its value together, each padded to a power of two.
        itemsize: bytes of a number.
        is_decode: whether every row has one token. A pass that has chunks too takes their tiles,
            with which single tokens are still bound by memory and not by arithmetic.
    """
    entry_bytes = entry_dims * itemsize
    block_n = next((keys for most, keys in KEYS_BY_BYTES if entry_bytes <= most), LEAST_KEYS)
    if is_decode:
        return Tiles(max(LEAST_ROWS, next_power_of_2(num_groups)), block_n)
    # float32 has no tensor cores without rounding to TF32: its products live in registers.
    is_exact = itemsize == 4
    rows = 32 if is_exact else 64
    if entry_dims > WIDEST_DIMS:
        rows //= 2
    num_warps = 8 if is_exact or entry_bytes > WIDE_BYTES else 4
    return Tiles(max(rows, next_power_of_2(num_groups)), block_n, num_warps)


def next_power_of_2(number: int) -> int:
    """The least that is not below the number."""
    return 1 << (number - 1).bit_length()
