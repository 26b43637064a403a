from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.batchers import Continuous, Static
from engine.cost import Achieved, Device, Linear, Link, Load, ModelShape, Roofline
from engine.plan import Plan, Row
from engine.request import Sequence
from engine.settings import Start
from tests.builders import ask, make_queues, pretend_ran

LINEAR = Linear(pass_ms=1000.0, prefill_token_ms=100.0, sequence_ms=10.0, context_token_ms=1.0)
MODEL = ModelShape(
    name="toy",
    hidden_size=10,
    intermediate_size=7,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=5,
    vocab_size=11,
    max_position_embeddings=100,
)
LAYERS = 2 * (10 * 20 + 2 * 10 * 10 + 20 * 10 + 3 * 10 * 7)  # q, k and v, output; feed-forward
HEAD = 10 * 11
ALL = Achieved(
    linear_flops=1,
    attention_flops=1,
    weight_bandwidth=1,
    kv_bandwidth=1,
    memory=1,
    pass_ms=0,
    sequence_ms=0,
)
ENDLESS = 1e30
DEVICE = Device(
    name="toy", memory_gb=1, bandwidth_gb_s=ENDLESS, tflops={"float32": ENDLESS}, achieved=ALL
)


def prefill(*lengths: int) -> Plan:
    return Continuous().schedule(make_queues(*lengths, num_blocks=1000), 0.0)


def decode(*lengths: int) -> Plan:
    queues = make_queues(*lengths, num_blocks=1000)
    pretend_ran(Continuous().schedule(queues, 0.0))
    return Continuous().schedule(queues, 0.0)


def padded(*lengths: int) -> Plan:
    return Static(start=Start.IDLE).schedule(make_queues(*lengths), 0.0)


def with_dead_rows() -> Plan:
    """Two finished rows, with contexts of 4 and 6, beside one that decodes its sixth token."""
    queues, batcher = make_queues(3, 5, max_tokens=2), Static(start=Start.IDLE)
    queues.enqueue(make_queues(4, max_tokens=9).waiting[0])
    for _ in range(2):
        pretend_ran(batcher.schedule(queues, 0.0))
    return batcher.schedule(queues, 0.0)


def roofline(size: int = 1, **changes) -> Roofline:
    return Roofline(MODEL, replace(DEVICE, **changes), "float32", size)


def test_a_straight_line_for_prefill():
    assert LINEAR.seconds(prefill(3, 5)) == pytest.approx(1.0 + 0.800 + 0.020 + 0.008)


def test_decoding_sequences_cost_their_row_and_their_context():
    assert LINEAR.seconds(decode(3, 5)) == pytest.approx(1.0 + 0.020 + 0.010)


def test_padding_costs_as_much_as_prompt():
    assert LINEAR.seconds(padded(3, 5)) == pytest.approx(1.0 + 1.000 + 0.020 + 0.008)


def test_a_dead_row_goes_on_costing():
    plan = with_dead_rows()
    assert [row.num_tokens for row in plan.rows] == [0, 0, 1]
    assert LINEAR.seconds(plan) == pytest.approx(1.0 + 0.030 + 0.001 * (4 + 6 + 6))


@pytest.mark.parametrize(
    ("plan", "load"),
    [
        (prefill(3, 5), Load(2, 8, 2, (1 + 2 + 3) + (1 + 2 + 3 + 4 + 5), 8)),
        (decode(3, 5), Load(2, 2, 2, 4 + 6, 4 + 6)),
        (padded(3, 5), Load(2, 10, 2, (1 + 2 + 3 + 3 + 3) + (1 + 2 + 3 + 4 + 5), 8)),
        (with_dead_rows(), Load(3, 3, 1, 4 + 6 + 6, 4 + 6 + 6)),
        (Plan(), Load(0, 0, 0, 0, 0)),
    ],
)
def test_the_load_of_a_plan_is_counted_token_by_token(plan, load):
    assert Load.of(plan) == load


def seen_by_each_query(row: Row, width: int) -> list[int]:
    """Keys that each query of a row sees: those up to its own, and all of them where it pads."""
    end = row.seq.num_computed + row.num_tokens
    own = list(range(row.seq.num_computed + 1, end + 1))
    return own + [end] * max(0, width - row.num_tokens)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5),
    st.booleans(),
)
def test_the_load_is_that_of_its_queries_one_by_one(sizes, is_rectangular):
    rows = []
    for num_computed, num_tokens in sizes:
        seq = Sequence(ask(num_prompt_tokens=num_computed + num_tokens + 1))
        seq.num_computed = num_computed
        rows.append(Row(seq, num_tokens))
    plan = Plan(tuple(rows), rectangular=is_rectangular)
    seen = [seen_by_each_query(row, plan.width if is_rectangular else 0) for row in rows]
    load = Load.of(plan)
    assert load.num_positions == sum(map(len, seen)) == plan.num_slots
    assert load.num_attended == sum(map(sum, seen))
    assert load.num_cached == sum(row.seq.num_computed + row.num_tokens for row in rows)


def test_a_chunk_that_does_not_reach_the_end_samples_nothing():
    batcher = Continuous(max_num_batched_tokens=8, long_prefill_token_threshold=4)
    plan = batcher.schedule(make_queues(6), 0.0)
    assert Load.of(plan) == Load(1, 4, 0, 1 + 2 + 3 + 4, 4)


def test_keys_and_values_take_two_vectors_a_layer_and_head():
    assert MODEL.kv_values_per_token == 2 * 2 * 2 * 5
    assert roofline().kv_bytes_per_token == 4 * 40


def test_a_model_has_layers_norms_embeddings_and_a_head():
    norms = 2 * 2 * 10 + 10
    assert MODEL.layer_params == LAYERS
    assert MODEL.num_params == LAYERS + norms + 2 * HEAD
    assert replace(MODEL, tie_word_embeddings=True).num_params == LAYERS + norms + HEAD
    with_qk_norm = replace(MODEL, has_qk_norm=True)
    assert with_qk_norm.num_params == MODEL.num_params + 2 * 2 * 5


def test_layers_take_their_arithmetic_where_that_takes_longer():
    cost = roofline(tflops={"float32": 1e-6}, achieved=replace(ALL, linear_flops=0.5))
    attention = 4 * 2 * 4 * 5 * (6 + 15)
    seconds = (2 * (LAYERS * 8 + HEAD * 2) / 0.5 + attention) / 1e6
    assert cost.seconds(prefill(3, 5)) == pytest.approx(seconds)


def test_layers_take_the_reading_of_their_weights_where_that_takes_longer():
    achieved = replace(ALL, weight_bandwidth=0.5, kv_bandwidth=0.25)
    cost = roofline(bandwidth_gb_s=1e-3, achieved=achieved)
    seconds = (4 * (LAYERS + HEAD) / 0.5 + (4 + 6) * 160 / 0.25) / 1e6
    assert cost.seconds(decode(3, 5)) == pytest.approx(seconds)


def test_a_pass_that_samples_nothing_does_not_read_the_head():
    batcher = Continuous(max_num_batched_tokens=8, long_prefill_token_threshold=4)
    plan = batcher.schedule(make_queues(6), 0.0)
    seconds = (4 * LAYERS + 4 * 160) / 1e6
    assert roofline(bandwidth_gb_s=1e-3).seconds(plan) == pytest.approx(seconds)


def test_passes_and_sequences_cost_beside_what_they_compute():
    cost = roofline(achieved=replace(ALL, pass_ms=1000, sequence_ms=10))
    assert cost.seconds(decode(3, 5)) == pytest.approx(1.020)


def test_two_devices_take_half_the_time_and_exchange_activations_twice_a_layer():
    link = Link(bandwidth_gb_s=1e-6, latency_us=1e6)
    slow = {"bandwidth_gb_s": 1e-3, "link": link}
    alone, shared = roofline(**slow), roofline(2, **slow)
    plan = decode(3, 5)
    sent = 2 * (2 - 1) / 2 * (2 * 10 * 4)  # of two tokens with ten numbers of four bytes
    exchange = 2 * 2 * (1.0 + sent / 1e3)
    assert shared.seconds(plan) == pytest.approx(alone.seconds(plan) / 2 + exchange)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: replace(MODEL, head_dim=0), "head_dim must be above 0, got 0"),
        (
            lambda: replace(MODEL, num_attention_heads=3),
            "num_attention_heads must be a multiple of num_key_value_heads (2), got 3",
        ),
        (lambda: replace(DEVICE, memory_gb=0), "memory_gb must be above 0, got 0"),
        (lambda: replace(DEVICE, tflops={}), "tflops must name at least one dtype"),
        (
            lambda: replace(DEVICE, tflops={"int7": 1}),
            "tflops must be by float32, bfloat16, float16, got 'int7'",
        ),
        (
            lambda: replace(DEVICE, tflops={"float32": "fast"}),
            "tflops must be numbers above 0, got 'fast' for float32",
        ),
        (lambda: replace(DEVICE, sources={"tflops": 7}), "sources must be text, got 7 for tflops"),
        (
            lambda: Achieved(kv_bandwidth=1.5),
            "kv_bandwidth must be above 0 and at most 1, got 1.5",
        ),
        (lambda: Achieved(pass_ms=-1), "pass_ms must be at least 0, got -1"),
        (lambda: Link(bandwidth_gb_s=0), "bandwidth_gb_s must be above 0, got 0"),
    ],
)
def test_impossible_hardware_is_refused(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()
