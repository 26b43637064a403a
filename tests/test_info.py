"""What settings come to on the model and the device at hand."""

from __future__ import annotations

import pytest

from engine.settings import EngineSettings, KvPolicy
from tests.builders import make_info

INFO = make_info(max_model_len=64, num_kv_blocks=100)


@pytest.mark.parametrize(("wanted", "longest"), [(0, 64), (32, 32), (1000, 64)])
def test_the_longest_context_is_what_was_set_but_no_more_than_the_model_has(wanted, longest):
    assert INFO.longest(EngineSettings(max_model_len=wanted)) == longest


def test_the_memory_of_the_device_is_cut_into_blocks_of_any_size():
    assert INFO.num_blocks(EngineSettings()) == 100
    assert INFO.num_blocks(EngineSettings(block_size=64)) == 25
    assert INFO.num_blocks(EngineSettings(num_kv_blocks=7)) == 7


def test_memory_is_reserved_for_the_longest_context_unless_told_otherwise():
    reserving = EngineSettings(kv_policy=KvPolicy.RESERVE)
    assert INFO.reserve_tokens(EngineSettings(reserve_tokens=20)) == 0
    assert INFO.reserve_tokens(reserving) == 64
    assert INFO.reserve_tokens(EngineSettings(kv_policy=KvPolicy.RESERVE, reserve_tokens=20)) == 20
