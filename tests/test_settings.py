from __future__ import annotations

import math

import pytest

from engine.settings import BatcherName, Delivery, EngineSettings


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"max_num_seqs": 0}, "max_num_seqs must be at least 1, got 0"),
        ({"max_num_batched_tokens": 0}, "max_num_batched_tokens must be at least 1, got 0"),
        ({"max_batch_size": -1}, "max_batch_size must be at least 1, got -1"),
        ({"block_size": 0}, "block_size must be at least 1, got 0"),
        ({"max_queue_delay_ms": -1.0}, "max_queue_delay_ms must be at least 0, got -1.0"),
        ({"max_queue_delay_ms": math.nan}, "max_queue_delay_ms must be at least 0, got nan"),
        ({"num_kv_blocks": -1}, "num_kv_blocks must be at least 0, got -1"),
        ({"num_kv_blocks": 10**9}, "num_kv_blocks must be at most 10000000, got 1000000000"),
        ({"reserve_tokens": -1}, "reserve_tokens must be at least 0, got -1"),
        ({"max_model_len": -1}, "max_model_len must be at least 0, got -1"),
        ({"watermark": -0.1}, "watermark must be at least 0, got -0.1"),
        ({"watermark": 0.6}, "watermark must be at most 0.5, got 0.6"),
        ({"aging": math.nan}, "aging must be at least 0, got nan"),
        ({"max_queue_size": -1}, "max_queue_size must be at least 0, got -1"),
        ({"max_waiting_tokens": 0}, "max_waiting_tokens must be at least 1, got 0"),
        (
            {"preferred_batch_size": (2, 9)},
            "preferred_batch_size must lie between 1 and max_batch_size (8), got [2, 9]",
        ),
        (
            {"long_prefill_token_threshold": -1},
            "long_prefill_token_threshold must be at least 0 (0 sets no limit), got -1",
        ),
        (
            {"max_num_batched_tokens": 15, "max_num_seqs": 16},
            "max_num_batched_tokens must be at least max_num_seqs (16), got 15: "
            "decodes would starve",
        ),
    ],
)
def test_an_impossible_setting_is_refused_with_its_name_and_what_would_be_right(knobs, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 -- the whole message is compared
        EngineSettings(**knobs)
    assert str(error.value) == message


def test_the_smallest_settings_are_allowed():
    smallest = EngineSettings(
        max_num_seqs=1,
        max_num_batched_tokens=1,
        max_batch_size=1,
        max_queue_delay_ms=0,
        block_size=1,
        long_prefill_token_threshold=0,
    )
    assert smallest.num_slots == 1


@pytest.mark.parametrize(
    ("batcher", "delivery", "num_slots"),
    [
        (BatcherName.STATIC, Delivery.BATCH, 3),
        (BatcherName.DYNAMIC, Delivery.BATCH, 3),
        (BatcherName.CONTINUOUS, Delivery.STREAM, 5),
    ],
)
def test_a_batcher_brings_its_usual_delivery_and_its_own_slots(batcher, delivery, num_slots):
    settings = EngineSettings(batcher, max_num_seqs=5, max_batch_size=3)
    assert (settings.delivery, settings.num_slots) == (delivery, num_slots)


@pytest.mark.parametrize("batcher", BatcherName)
@pytest.mark.parametrize("deliver", Delivery)
def test_delivery_can_be_chosen_with_any_batcher(batcher, deliver):
    assert EngineSettings(batcher, deliver=deliver).delivery is deliver


@pytest.mark.parametrize("name", ["max_num_seqs", "max_batch_size"])
def test_there_are_no_more_slots_than_any_device_batches(name):
    with pytest.raises(ValueError, match=f"{name} must be at most 4096, got 999999"):
        EngineSettings(max_num_batched_tokens=999_999, **{name: 999_999})
