from __future__ import annotations

import pytest

from engine.batchers import Continuous, Static
from engine.cost import Device, Linear, ModelShape, Roofline
from engine.plan import Plan
from engine.settings import Start
from tests.builders import make_queues, pretend_ran

LINEAR = Linear(pass_ms=1000.0, prefill_token_ms=100.0, sequence_ms=10.0, context_token_ms=1.0)
MODEL = ModelShape(
    num_params=1000, num_layers=2, num_kv_heads=1, num_heads=3, head_dim=5, bytes_per_value=2
)


def prefill(*lengths: int) -> Plan:
    return Continuous().schedule(make_queues(*lengths, num_blocks=1000), 0.0)


def decode(*lengths: int) -> Plan:
    queues = make_queues(*lengths, num_blocks=1000)
    pretend_ran(Continuous().schedule(queues, 0.0))
    return Continuous().schedule(queues, 0.0)


def padded(*lengths: int) -> Plan:
    return Static(start=Start.IDLE).schedule(make_queues(*lengths), 0.0)


def test_a_straight_line_for_prefill():
    assert LINEAR.seconds(prefill(3, 5)) == pytest.approx(1.0 + 0.800 + 0.020 + 0.008)


def test_decoding_sequences_cost_their_row_and_their_context():
    assert LINEAR.seconds(decode(3, 5)) == pytest.approx(1.0 + 0.020 + 0.010)


def test_padding_costs_as_much_as_prompt():
    assert LINEAR.seconds(padded(3, 5)) == pytest.approx(1.0 + 1.000 + 0.020 + 0.008)


def test_a_dead_row_goes_on_costing():
    queues, batcher = make_queues(3, 5, max_tokens=2), Static(start=Start.IDLE)
    queues.waiting.append(make_queues(4, max_tokens=9).waiting[0])
    for _ in range(2):
        pretend_ran(batcher.schedule(queues, 0.0))
    plan = batcher.schedule(queues, 0.0)
    assert [row.num_tokens for row in plan.rows] == [0, 0, 1]
    assert LINEAR.seconds(plan) == pytest.approx(1.0 + 0.030 + 0.001 * (4 + 6 + 6))


def test_keys_and_values_take_two_vectors_a_layer_and_head():
    assert MODEL.kv_bytes_per_token == 2 * 2 * 1 * 5 * 2


def test_a_roofline_follows_the_arithmetic_where_that_takes_longer():
    device = Device(flops=1e6, bandwidth=1e30, overhead=0.5)
    linear, attention = 2 * 1000 * 8, 4 * 2 * 3 * 5 * (3 * 3 + 5 * 5)
    seconds = Roofline(MODEL, device).seconds(prefill(3, 5))
    assert seconds == pytest.approx(0.5 + (linear + attention) / 1e6)


def test_a_roofline_follows_the_memory_where_that_takes_longer():
    device = Device(flops=1e30, bandwidth=1e6, overhead=0.5)
    seconds = Roofline(MODEL, device).seconds(decode(3, 5))
    assert seconds == pytest.approx(0.5 + (1000 * 2 + (4 + 6) * 40) / 1e6)


def test_padding_and_dead_rows_attend_to_their_context_too():
    device = Device(flops=1e6, bandwidth=1e30, overhead=0.0)
    linear, attention = 2 * 1000 * 10, 4 * 2 * 3 * 5 * (5 * 3 + 5 * 5)
    assert Roofline(MODEL, device).seconds(padded(3, 5)) == pytest.approx(
        (linear + attention) / 1e6
    )


def test_eight_decoding_rows_cost_little_more_than_one():
    one, eight = Roofline().seconds(decode(64)), Roofline().seconds(decode(*[64] * 8))
    assert one < eight < 1.05 * one


def test_a_pass_full_of_prompt_costs_clearly_more_than_a_decode():
    assert Roofline().seconds(prefill(512)) > 1.5 * Roofline().seconds(decode(64))
