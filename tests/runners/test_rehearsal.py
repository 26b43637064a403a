"""Every layer attends in a pass of each kind before the first request does."""

from __future__ import annotations

import torch

from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.gather import GatherAttention
from engine.runners.attention.rehearsal import LayerCall, rehearse
from engine.runners.kv_cache import KvCache, LayerShape
from tests.runners.passes import CPU

NARROW, WIDE = LayerShape(2, 8, 8, torch.float32), LayerShape(1, 16, 12, torch.float32)
CALLS = {
    0: LayerCall(NARROW, 4, AttentionOptions(window=3)),
    1: LayerCall(WIDE, 3, AttentionOptions(softcap=2.0)),
}


class Noting(GatherAttention):
    """Notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__(4, CPU)
        self.asked: list[tuple[tuple[int, ...], tuple[int, ...], AttentionOptions]] = []

    def attend(self, query, key, value, cache, options):
        output = super().attend(query, key, value, cache, options)
        self.asked.append((tuple(query.shape), tuple(output.shape), options))
        return output


def test_each_kind_of_layer_attends_to_one_token_and_to_a_chunk():
    backend = Noting()

    rehearse(backend, CALLS, KvCache({0: NARROW, 1: WIDE}, 1, 4, CPU))

    assert backend.asked == [
        ((1, 4, 8), (1, 4, 8), AttentionOptions(window=3)),
        ((1, 3, 16), (1, 3, 12), AttentionOptions(softcap=2.0)),
        ((3, 4, 8), (3, 4, 8), AttentionOptions(window=3)),
        ((3, 3, 16), (3, 3, 12), AttentionOptions(softcap=2.0)),
    ]
