from __future__ import annotations

import pytest

from engine.bench.decode import measure_decode
from tests.engine_bench.builders import make_dummy_core


def test_each_size_is_timed_beside_what_it_has_to_read():
    core = make_dummy_core()
    small, large = measure_decode(core, (1, 2), num_context=8, num_passes=3)
    assert (small.batch_size, large.batch_size) == (1, 2)
    assert min(small.seconds, large.seconds) > 0
    info = core.info
    read = info.num_params_read * 4 + 2 * 9 * info.kv_bytes_per_token
    assert large.floor == pytest.approx(read / info.peak_bandwidth)


def test_a_size_that_the_cache_does_not_hold_is_left_out():
    assert measure_decode(make_dummy_core(), (1000,), num_context=8, num_passes=3) == []
