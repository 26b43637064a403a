"""Tiles that were measured to be the fastest are taken, by who asked for them."""

from __future__ import annotations

import pytest
import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.kv_cache import LayerShape
from engine.runners.triton.paged_launch import kind_of
from engine.runners.triton.tiles import Tiles
from tests.runners.passes import CPU

pytest.importorskip("triton", reason="triton is not installed")
from triton.runtime.errors import OutOfResources

from engine.runners.triton.tuning import TrialLoad, TunedTiles, neighbours

OPTIONS = AttentionOptions(window=8, softcap=2.0, sinks=torch.zeros(4))
KIND = kind_of(LayerShape(2, 16, 16, torch.float32), 4, 8, OPTIONS)
LOAD = TrialLoad(num_rows=1, num_computed=20, chunk=3)


class Stopwatch:
    """Runs what it is to time, and gives the times that it was told to."""

    def __init__(self, times):
        self.times = list(times)
        self.num_timed = 0

    def __call__(self, run):
        self.num_timed += 1
        assert run().shape[1:] == (4, 16)
        time = self.times.pop(0) if self.times else 9.0
        if time is None:
            cause = OutOfResources(300_000, 101_376, "shared memory")
            raise RuntimeError("the Triton kernel cannot run") from cause
        return time


def test_the_fastest_that_fits_is_taken_and_measured_once():
    stopwatch = Stopwatch([5.0, None, 3.0, 4.0])
    tuned = TunedTiles(CPU, LOAD, stopwatch)
    candidates = neighbours(KIND.tiles(is_decode=True), KIND.num_groups)

    assert tuned(KIND, is_decode=True) == candidates[2]
    assert tuned(KIND, is_decode=True) == candidates[2]
    assert stopwatch.num_timed == len(candidates)


def test_where_none_can_be_timed_the_table_stands():
    candidates = neighbours(KIND.tiles(is_decode=False), KIND.num_groups)
    tuned = TunedTiles(CPU, LOAD, Stopwatch([None] * len(candidates)))

    assert tuned(KIND, is_decode=False) == KIND.tiles(is_decode=False)


def test_what_fails_for_another_reason_is_no_matter_of_size():
    def fail(run):
        raise RuntimeError("no device")

    with pytest.raises(RuntimeError, match="no device"):
        TunedTiles(CPU, LOAD, fail)(KIND, is_decode=True)


def test_candidates_begin_with_the_table_and_hold_a_whole_group():
    found = neighbours(Tiles(16, 64), num_groups=12)

    assert found[0] == Tiles(16, 64)
    assert {(tiles.block_m, tiles.block_n) for tiles in found} == {
        (rows, keys) for rows in (16, 32) for keys in (32, 64, 128)
    }
    assert {tiles.num_warps for tiles in found} == {4, 8}
