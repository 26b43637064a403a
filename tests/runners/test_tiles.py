"""The table of the kernel's tiles."""

from __future__ import annotations

import pytest

from engine.runners.triton.tiles import Tiles, choose_tiles, next_power_of_2


@pytest.mark.parametrize(
    ("num_groups", "entry_dims", "itemsize", "is_decode", "tiles"),
    [
        (4, 128 + 128, 2, True, Tiles(16, 64, num_warps=4)),
        (4, 128 + 128, 2, False, Tiles(64, 64, num_warps=4)),
        (2, 256 + 256, 2, True, Tiles(16, 32, num_warps=4)),
        (2, 256 + 256, 2, False, Tiles(64, 32, num_warps=8)),
        (4, 512 + 512, 2, False, Tiles(32, 16, num_warps=8)),
        (3, 64 + 64, 4, True, Tiles(16, 64, num_warps=4)),
        (3, 64 + 64, 4, False, Tiles(32, 64, num_warps=8)),
        (71, 64 + 64, 2, True, Tiles(128, 64, num_warps=4)),
    ],
)
def test_tiles_follow_from_the_sizes_of_the_heads(
    num_groups, entry_dims, itemsize, is_decode, tiles
):
    assert choose_tiles(num_groups, entry_dims, itemsize, is_decode=is_decode) == tiles


def test_powers_of_two_are_their_own_next():
    assert [next_power_of_2(number) for number in (1, 2, 3, 64, 65)] == [1, 2, 4, 64, 128]
