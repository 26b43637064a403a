"""Knobs are the fields of the settings, and turn within the bounds that those check."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from engine.config import ConfigError
from engine.settings import (
    BatcherName,
    Delivery,
    EngineSettings,
    KvPolicy,
    SchedulingPolicy,
    TimeoutAction,
)
from tuiapp.knobs import change, list_knobs, matters, nudge, show_value

SETTINGS = EngineSettings(long_prefill_token_threshold=64)
KNOBS = {knob.name: knob for knob in list_knobs()}


def test_there_is_a_knob_for_every_field_and_each_says_what_it_does():
    assert list(KNOBS) == [field.name for field in fields(EngineSettings)]
    assert all(len(knob.text) > 10 for knob in KNOBS.values())
    assert KNOBS["block_size"].text == "tokens a block."
    assert KNOBS["batcher"].text == "The batching policies."
    assert KNOBS["reserve_tokens"].text == "what reserve takes, 0 for max_model_len."


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("batcher", "static, dynamic, continuous"),
        ("max_num_seqs", "a whole number, 1 to 4,096"),
        ("max_batch_size", "a whole number, 1 to 4,096"),
        ("max_num_batched_tokens", "a whole number, at least 1"),
        ("num_kv_blocks", "a whole number, 0 to 10,000,000"),
        ("max_queue_delay_ms", "a number, at least 0"),
        ("enable_chunked_prefill", "on, off"),
        ("long_prefill_token_threshold", "a whole number, at least 0, or auto"),
        ("deliver", "auto, batch, stream"),
        ("ignore_eos", "auto, on, off"),
        ("preferred_batch_size", "whole numbers with commas between them, or nothing"),
        ("watermark", "a number, 0 to 0.5"),
    ],
)
def test_bounds_are_those_of_the_settings(name, bounds):
    assert KNOBS[name].bounds == bounds


@pytest.mark.parametrize("name", [name for name, knob in KNOBS.items() if knob.most is not None])
def test_the_greatest_number_is_accepted_and_none_above_it(name):
    knob, roomy = KNOBS[name], EngineSettings(max_num_batched_tokens=10_000)
    assert getattr(change(roomy, knob, str(knob.most)), name) == knob.most
    with pytest.raises(ConfigError, match=f"at most {knob.most}"):
        change(roomy, knob, str(knob.most * 2))


def test_a_notch_stops_at_the_greatest_number():
    settings = EngineSettings(watermark=0.3, max_batch_size=3000)
    assert nudge(settings, KNOBS["watermark"], 1).watermark == 0.5
    assert nudge(settings, KNOBS["max_batch_size"], 1).max_batch_size == 4096


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_num_seqs", "16", 16),
        ("max_num_seqs", " 16 ", 16),
        ("max_queue_delay_ms", "12.5", 12.5),
        ("max_queue_delay_ms", "12", 12.0),
        ("enable_chunked_prefill", "off", False),
        ("enable_chunked_prefill", "True", True),
        ("batcher", "Static", BatcherName.STATIC),
        ("deliver", "batch", Delivery.BATCH),
        ("deliver", "auto", None),
        ("long_prefill_token_threshold", "auto", None),
        ("long_prefill_token_threshold", "0", 0),
        ("ignore_eos", "on", True),
        ("preferred_batch_size", "4, 8", (4, 8)),
        ("preferred_batch_size", "", ()),
        ("preferred_batch_size", "none", ()),
        ("scheduling_policy", "sjf-prompt", SchedulingPolicy.SJF_PROMPT),
    ],
)
def test_a_value_is_read_as_a_user_writes_it(name, text, value):
    changed = change(SETTINGS, KNOBS[name], text)
    assert getattr(changed, name) == value
    assert type(getattr(changed, name)) is type(value)
    assert replace(changed, **{name: getattr(SETTINGS, name)}) == SETTINGS


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("max_num_seqs", "0", "must be at least 1, got 0"),
        ("max_num_seqs", "many", "expected a whole number, got 'many'"),
        ("max_num_seqs", "1.5", "expected a whole number, got 1.5"),
        ("max_num_seqs", "", "expected a whole number, got ''"),
        ("max_num_seqs", "auto", "expected a whole number, got 'auto'"),
        ("batcher", "statik", "'statik' is unknown; did you mean 'static'?"),
        ("enable_chunked_prefill", "perhaps", "'perhaps' is unknown; known: on, off"),
        ("preferred_batch_size", "4,x", "expected a whole number, got 'x'"),
        (
            "preferred_batch_size",
            "9",
            "must lie between 1 and max_batch_size (8), got [9]",
        ),
        ("watermark", "0.6", "must be at most 0.5, got 0.6"),
        ("max_queue_delay_ms", "-1", "must be at least 0, got -1.0"),
        (
            "max_num_seqs",
            "600",
            "max_num_batched_tokens must be at least max_num_seqs (600), got 512: decodes would "
            "starve",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(name, text, problem):
    with pytest.raises(ConfigError) as caught:
        change(SETTINGS, KNOBS[name], text)
    assert caught.value.problem == problem


@pytest.mark.parametrize(
    ("name", "steps", "shown"),
    [
        ("max_num_seqs", 1, "16"),
        ("max_num_seqs", -1, "4"),
        ("num_kv_blocks", -1, "0"),
        ("long_prefill_token_threshold", 1, "128"),
        ("batcher", 1, "static"),
        ("batcher", -1, "dynamic"),
        ("enable_chunked_prefill", 1, "off"),
        ("deliver", 1, "batch"),
        ("deliver", -1, "stream"),
        ("max_queue_delay_ms", -1, "25"),
    ],
)
def test_a_notch_is_the_next_choice_or_double_or_half(name, steps, shown):
    assert show_value(getattr(nudge(SETTINGS, KNOBS[name], steps), name)) == shown


@pytest.mark.parametrize("name", ["max_model_len", "num_kv_blocks", "reserve_tokens"])
def test_what_the_engine_decides_has_no_next_notch(name):
    with pytest.raises(ConfigError) as caught:
        nudge(SETTINGS, KNOBS[name], 1)
    assert caught.value.problem == f"{name} is automatic; type a number with enter"


def test_a_list_has_no_next_notch():
    with pytest.raises(ConfigError) as caught:
        nudge(SETTINGS, KNOBS["preferred_batch_size"], 1)
    assert caught.value.problem == "preferred_batch_size is a list; type it with enter"


def test_a_notch_stops_at_the_least_and_is_refused_where_the_others_forbid_it():
    lowest = change(SETTINGS, KNOBS["max_num_seqs"], "1")
    assert nudge(lowest, KNOBS["max_num_seqs"], -1) == lowest
    with pytest.raises(ConfigError, match="decodes would starve"):
        nudge(EngineSettings(max_num_batched_tokens=8), KNOBS["max_num_seqs"], 1)


def test_aging_matters_to_a_queue_that_comes_first_come_first_served_once_some_are_delayed():
    assert not matters(EngineSettings(default_queue_timeout_ms=500.0), "aging")
    delaying = EngineSettings(default_queue_timeout_ms=500.0, timeout_action=TimeoutAction.DELAY)
    assert matters(delaying, "aging")


def test_knobs_without_effect_are_known():
    static = EngineSettings(batcher=BatcherName.STATIC)
    assert [name for name in KNOBS if not matters(static, name)] == [
        "max_num_seqs",
        "max_num_batched_tokens",
        "enable_chunked_prefill",
        "long_prefill_token_threshold",
        "max_long_partial_prefills",
        "pass_order",
        "on_full",
        "watermark",
        "waiting_served_ratio",
        "max_waiting_tokens",
        "max_queue_delay_ms",
        "preferred_batch_size",
        "aging",
        "timeout_action",
        "reserve_tokens",
    ]
    whole = EngineSettings(enable_chunked_prefill=False, kv_policy=KvPolicy.RESERVE)
    assert [name for name in KNOBS if not matters(whole, name)] == [
        "long_prefill_token_threshold",
        "max_long_partial_prefills",
        "max_waiting_tokens",
        "max_batch_size",
        "max_queue_delay_ms",
        "preferred_batch_size",
        "start",
        "aging",
        "timeout_action",
    ]
