"""Tiles by measurement, for who asks for them: `TunedTiles`.

Other tiles round differently, and what is fastest may change from start to start. So the default
is the fixed table, and this is an option (`--attention triton-tuned`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from triton.runtime.errors import OutOfResources
from triton.testing import do_bench

from engine.runners.attention.attend import AttentionOptions
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import LayerCache
from engine.runners.triton.paged_launch import LayerKind
from engine.runners.triton.paged_triton import TritonAttention
from engine.runners.triton.tiles import LEAST_KEYS, LEAST_ROWS, Tiles

Timer = Callable[[Callable[[], object]], float]


@dataclass(frozen=True, slots=True)
class TrialLoad:
    """What is timed.

    Attributes:
        num_rows, num_computed: decoding rows, and the tokens of each before the pass.
        chunk: tokens of the one row in a pass that is not a decoding one.
    """

    num_rows: int = 16
    num_computed: int = 2047
    chunk: int = 512


class TunedTiles:
    """Times the table's tiles and their neighbours for each kind of layer, and keeps the fastest.

    Tiles too large for the device are none of the candidates.

    Args:
        timer: how long a call takes, in any unit.
    """

    def __init__(
        self, device: torch.device, load: TrialLoad | None = None, timer: Timer = do_bench
    ) -> None:
        self._device = device
        self._load = load or TrialLoad()
        self._timer = timer
        self._found: dict[tuple[LayerKind, bool], Tiles] = {}

    def __call__(self, kind: LayerKind, /, *, is_decode: bool) -> Tiles:
        found = self._found.get((kind, is_decode))
        if found is None:
            found = self._found[kind, is_decode] = self._tune(kind, is_decode)
        return found

    def _tune(self, kind: LayerKind, is_decode: bool) -> Tiles:
        trial = Trial(kind, self._load, is_decode, self._device)
        times: dict[Tiles, float] = {}
        for tiles in neighbours(kind.tiles(is_decode=is_decode), kind.num_groups):
            try:
                times[tiles] = self._timer(trial.runner(tiles))
            except RuntimeError as error:
                if not isinstance(error.__cause__, OutOfResources):
                    raise
        return min(times, key=times.__getitem__, default=kind.tiles(is_decode=is_decode))


class Trial:
    """A pass over a cache of zeros, attended to in one choice of tiles or another."""

    def __init__(
        self, kind: LayerKind, load: TrialLoad, is_decode: bool, device: torch.device
    ) -> None:
        self._kind = kind
        self._device = device
        num_tokens = 1 if is_decode else load.chunk
        num_rows = load.num_rows if is_decode else 1
        kv_len = load.num_computed + num_tokens
        num_blocks = -(-kv_len // kind.block_size)
        self._spans = [
            Span(
                start=row * num_tokens,
                num_tokens=num_tokens,
                num_computed=load.num_computed,
                kv_len=kv_len,
                block_table=list(range(row * num_blocks, (row + 1) * num_blocks)),
            )
            for row in range(num_rows)
        ]
        self._cache = LayerCache(kind.shape, num_rows * num_blocks, kind.block_size, device)
        size = (num_rows * num_tokens, kind.num_heads, kind.shape.key_dim)
        self._query = torch.zeros(size, dtype=kind.shape.dtype, device=device)
        self._options = AttentionOptions(
            window=kv_len if kind.has_window else None,
            softcap=30.0 if kind.has_softcap else None,
            sinks=self._query.new_zeros(kind.num_heads) if kind.has_sinks else None,
        )

    def runner(self, tiles: Tiles) -> Callable[[], object]:
        """What attends in these tiles whenever it is called."""
        backend = TritonAttention(
            self._kind.block_size, self._device, choose_tiles=lambda kind, /, *, is_decode: tiles
        )
        backend.begin(self._spans)
        query = self._query
        return lambda: backend.attend(query, query, query, self._cache, self._options)


def neighbours(table: Tiles, num_groups: int) -> list[Tiles]:
    """The table's own tiles first, then those that differ in one thing or more."""
    rows = [table.block_m, table.block_m // 2, 2 * table.block_m]
    keys = [table.block_n, table.block_n // 2, 2 * table.block_n]
    return [
        Tiles(block_m, block_n, num_warps, num_stages)
        for block_m in rows
        for block_n in keys
        for num_warps in (table.num_warps, 12 - table.num_warps)  # 4 or 8
        for num_stages in (3, 5)  # one or two tiles of each under way
        if block_m >= max(LEAST_ROWS, num_groups) and block_n >= LEAST_KEYS
    ]
