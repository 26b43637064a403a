"""Named systems set what their schedulers do, and leave sizes alone."""

from __future__ import annotations

import pytest

from engine.settings import BatcherName, EngineSettings, KvPolicy, OnFull, PassOrder
from tuiapp.knobs import next_system, read_systems, system_of

SYSTEMS = read_systems()
NAMES = ["orca", "vllm", "sarathi", "tgi", "trtllm", "triton-dynamic", "hf-generate"]


def test_there_are_seven_and_each_says_what_is_the_same_and_what_is_not():
    assert [each.name for each in SYSTEMS] == NAMES
    for each in SYSTEMS:
        assert len(each.same) > 20
        assert len(each.differs) > 20
        assert len(each.source) > 10
        assert len(f"As {each.name}: {each.story}.") <= 116, "one line of the live screen"


def test_each_is_recognised_by_its_settings_and_by_no_other():
    for each in SYSTEMS:
        settings = each.apply(EngineSettings(max_num_seqs=5, num_kv_blocks=77))
        assert system_of(settings, SYSTEMS) is each
        assert (settings.max_num_seqs, settings.num_kv_blocks) == (5, 77)
    assert system_of(EngineSettings(block_size=7), SYSTEMS) is None


def test_the_next_one_goes_round():
    settings, seen = EngineSettings(block_size=7), []
    for _ in range(8):
        system = next_system(settings, SYSTEMS)
        settings = system.apply(settings)
        seen.append(system.name)
    assert seen == [*NAMES, "orca"]


@pytest.mark.parametrize(
    ("name", "batcher", "kv_policy", "is_chunked"),
    [
        ("orca", BatcherName.CONTINUOUS, KvPolicy.RESERVE, False),
        ("vllm", BatcherName.CONTINUOUS, KvPolicy.PAGED, True),
        ("sarathi", BatcherName.CONTINUOUS, KvPolicy.PAGED, True),
        ("tgi", BatcherName.CONTINUOUS, KvPolicy.PAGED, False),
        ("trtllm", BatcherName.CONTINUOUS, KvPolicy.PAGED, False),
        ("triton-dynamic", BatcherName.DYNAMIC, KvPolicy.PAGED, True),
        ("hf-generate", BatcherName.STATIC, KvPolicy.PAGED, True),
    ],
)
def test_each_sets_the_policy_that_it_is_known_for(name, batcher, kv_policy, is_chunked):
    [system] = [each for each in SYSTEMS if each.name == name]
    settings = system.apply(EngineSettings())
    assert settings.batcher is batcher
    assert settings.kv_policy is kv_policy
    assert settings.enable_chunked_prefill is is_chunked


@pytest.mark.parametrize(
    ("name", "on_full", "pass_order", "has_prefix_cache"),
    [
        ("vllm", OnFull.PREEMPT_NEWEST, PassOrder.DECODE_FIRST, True),
        ("tgi", OnFull.NO_EVICT, PassOrder.PREFILL_ALONE, False),
        ("trtllm", OnFull.NO_EVICT, PassOrder.DECODE_FIRST, True),
    ],
)
def test_engines_of_today_differ_in_who_begins_and_what_is_kept(
    name, on_full, pass_order, has_prefix_cache
):
    [system] = [each for each in SYSTEMS if each.name == name]
    settings = system.apply(EngineSettings())
    assert settings.on_full is on_full
    assert settings.pass_order is pass_order
    assert settings.enable_prefix_caching is has_prefix_cache
