"""From a specification to a runner, a tokenizer and a cache of the right size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest
import torch

from engine.assembly import build_core, fit_to_model
from engine.clock import VirtualClock
from engine.config import ConfigError
from engine.cost import Linear
from engine.events import EngineInfo
from engine.log import EventLog
from engine.request import Request, SamplingParams
from engine.run import run
from engine.runners.build import build_parts, choose_maker, refit_parts, set_threads
from engine.runners.layers.maker import OneDnnMaker
from engine.runners.native.find import NO_NATIVE
from engine.runners.native.parts import NativeMaker
from engine.runners.parts import ModelSpec, num_blocks_wanted
from engine.settings import EngineSettings
from engine.workload import Listed
from tests.builders import outputs_of
from tests.runners.native_kernels import make_native

TINY = ModelSpec(device="cpu")


@pytest.fixture
def num_threads() -> Iterator[int]:
    """Puts back the number of threads that a test changes."""
    before = torch.get_num_threads()
    yield before
    torch.set_num_threads(before)


def test_the_shipped_model_says_what_it_is():
    make_native()
    info = build_parts(TINY, EngineSettings()).info
    assert min(info.peak_bandwidth, info.peak_flops) > 1e8
    assert replace(info, peak_bandwidth=0.0, peak_flops=0.0) == EngineInfo(
        model="tiny",
        device="cpu",
        dtype="float32",
        attention="native paged",
        num_params=3_475_712,
        max_model_len=8192,
        num_kv_blocks=8 * 8192 // 16,
        block_size=16,
        kv_bytes_per_token=4 * 2 * (64 + 64) * 4,
        num_threads=1,
    )


def test_without_a_compiler_it_runs_all_the_same_and_says_what_is_missing(monkeypatch):
    monkeypatch.setenv("CXX", "none")

    attention = build_parts(TINY, EngineSettings()).info.attention

    assert attention == "grouped gather + sdpa (not native: CXX=none is not there)"


@pytest.mark.parametrize(
    ("dtype", "missing"),
    [(torch.float32, "_is_avx512_supported"), (torch.bfloat16, "_is_avx512_bf16_supported")],
    ids=str,
)
def test_products_are_ours_where_the_processor_suits_them(monkeypatch, dtype, missing):
    native = make_native(dtype)
    for name in ("_is_avx512_supported", "_is_avx512_bf16_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: True)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    assert type(choose_maker(native)) is NativeMaker

    monkeypatch.setattr(torch.cpu, missing, lambda: False)
    assert type(choose_maker(native)) is OneDnnMaker
    assert type(choose_maker(NO_NATIVE)) is OneDnnMaker


def test_the_cache_has_room_for_every_slot_of_whichever_batcher():
    settings = EngineSettings(max_num_seqs=3, max_batch_size=5, block_size=10)

    assert num_blocks_wanted(settings, max_model_len=95) == 5 * 10
    assert num_blocks_wanted(EngineSettings(max_num_seqs=9, max_model_len=32), 95) == 9 * 2


def test_the_cache_is_no_larger_than_the_memory_it_is_given():
    parts = build_parts(ModelSpec(device="cpu", kv_memory_gib=1 / 1024), EngineSettings())

    assert parts.info.num_kv_blocks == 2**20 // (16 * 4096) - 1
    assert parts.runner.attention.cache.num_bytes == 2**20


def test_the_settings_may_set_the_size_and_it_can_be_left_to_the_engine_again():
    parts = build_parts(TINY, EngineSettings(num_kv_blocks=40))

    assert parts.runner.attention.cache.num_blocks == 40
    assert parts.info.num_kv_blocks == 4096


def test_a_large_cache_takes_no_memory_until_it_is_used():
    process = psutil.Process()
    before = process.memory_info().rss

    parts = build_parts(TINY, EngineSettings())

    assert parts.runner.attention.cache.num_bytes > 250e6
    assert process.memory_info().rss - before < 120e6


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("num_threads", -1, "num_threads: must be at least 0, got -1"),
        ("kv_memory_gib", -0.5, "kv_memory_gib: must be at least 0, got -0.5"),
        ("kv_memory_gib", float("nan"), "kv_memory_gib: must be at least 0, got nan"),
    ],
)
def test_a_number_below_0_is_refused(name, value, message):
    with pytest.raises(ConfigError) as caught:
        ModelSpec(**{name: value})

    assert str(caught.value) == message


def test_random_weights_are_not_passed_off_as_the_models_own():
    parts = build_parts(ModelSpec(device="cpu", load_format="dummy"), EngineSettings())

    assert parts.info.model == "tiny (dummy)"


@pytest.mark.parametrize(
    ("spec", "settings", "message"),
    [
        (ModelSpec(device="gpu"), EngineSettings(), "unknown device 'gpu'; did you mean 'cpu'?"),
        (
            ModelSpec(device="cpu", attention="gathr"),
            EngineSettings(),
            "unknown attention 'gathr'; did you mean 'gather'?",
        ),
        (
            ModelSpec(device="cpu", attention="varlen"),
            EngineSettings(),
            "--attention varlen: it needs a CUDA device, and this is cpu; or take --attention auto",
        ),
        (
            ModelSpec(device="cpu", kv_memory_gib=1e-6),
            EngineSettings(),
            "0.000 GiB do not hold two KV blocks of the model",
        ),
        (
            TINY,
            EngineSettings(num_kv_blocks=10**7),
            "10000000 KV blocks of 16 tokens take 610.35 GiB",
        ),
    ],
    ids=["device", "attention", "no such attention here", "memory", "blocks"],
)
def test_what_cannot_be_had_is_refused(spec, settings, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        build_parts(spec, settings)


def test_a_small_model_gets_one_thread_and_a_large_one_what_torch_takes(num_threads):
    torch.set_num_threads(2)

    assert set_threads(0, num_params=50_000_000) == 2
    assert set_threads(0, num_params=49_999_999) == 1
    assert set_threads(2, num_params=1000) == 2


def test_chunks_are_fitted_to_the_model_unless_they_are_set():
    assert fit_to_model(EngineSettings(), 3_475_712).long_prefill_token_threshold == 64
    assert fit_to_model(EngineSettings(), 8_000_000_000).long_prefill_token_threshold == 512
    chosen = EngineSettings(long_prefill_token_threshold=0)
    assert fit_to_model(chosen, 8_000_000_000) == chosen


def test_a_real_model_can_run_at_the_pace_of_a_cost_model():
    requests = [Request("r0", (1, 5, 6), SamplingParams(max_tokens=5, ignore_eos=True))]
    clock, log, real_log = VirtualClock(), EventLog(), EventLog()

    run(build_core(TINY, EngineSettings(), clock, log, Linear(pass_ms=1000.0)), Listed(requests))
    run(build_core(TINY, EngineSettings(), VirtualClock(), real_log), Listed(requests))

    assert outputs_of(log) == outputs_of(real_log)
    assert 5.0 < clock.now() < 5.01


def test_a_model_that_ran_at_another_pace_can_be_taken_over():
    settings, clock = EngineSettings(num_kv_blocks=40), VirtualClock()
    before = build_core(TINY, settings, clock, EventLog(), Linear(pass_ms=1000.0))

    core = build_core(TINY, settings, clock, EventLog(), Linear(pass_ms=2.0), before)
    run(core, Listed([Request("r0", (1, 5, 6), SamplingParams(max_tokens=1))]))

    assert 0.002 < clock.now() < 0.01


def test_blocks_that_a_model_that_is_taken_over_cannot_have_are_refused_as_settings_are():
    spec, settings = ModelSpec(device="cpu"), EngineSettings(num_kv_blocks=8)
    parts = build_parts(spec, settings)

    with pytest.raises(ConfigError, match=r"1 KV blocks of 1000000000 tokens take .* GiB"):
        refit_parts(parts, spec, replace(settings, block_size=10**9))
