from __future__ import annotations

import re
import time
from dataclasses import replace
from functools import partial

import pytest
from typer.testing import CliRunner

from engine.assembly import build_core
from engine.backends.local import LocalBackend
from engine.clock import VirtualClock
from engine.config import ConfigError
from engine.core import EngineCore
from engine.cost import Linear
from engine.events import Finished, Step
from engine.hardware import num_kv_blocks, simulate
from engine.log import EventLog
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tests.builders import ask, events_of
from tuiapp.cli.main import app

PATIENCE = 5.0  # seconds that a busy machine may need for what takes a tenth of one
H200 = ModelSpec("llama-3.1-8b", "sim:h200")


def build(spec: ModelSpec, cost: Linear | None = None, **knobs) -> EngineCore:
    return build_core(spec, EngineSettings(**knobs), VirtualClock(), EventLog(), cost)


def seconds_of_a_pass(core: EngineCore) -> float:
    core.add(ask(num_prompt_tokens=64, max_tokens=2))
    core.step()
    (step,) = (step for step in events_of(core.log, Step) if step.rows)
    return step.duration


def test_simulated_hardware_says_what_it_is():
    info = build(H200).info
    assert (info.model, info.device, info.dtype) == ("Llama-3.1-8B", "NVIDIA H200 SXM", "bfloat16")
    assert (info.num_params, info.kv_bytes_per_token) == (8_030_261_248, 131_072)
    assert info.max_model_len == 131_072
    assert info.is_simulated


def test_the_cache_is_as_large_as_could_be_used_or_as_the_device_holds():
    fits = num_kv_blocks(simulate("h200", "llama-3.1-8b"), 16)
    assert build(H200, max_num_seqs=4, max_batch_size=4).info.num_kv_blocks == 4 * 131_072 // 16
    assert build(H200, max_num_seqs=64).info.num_kv_blocks == fits
    one_gib = replace(H200, kv_memory_gib=1.0)
    assert build(one_gib).info.num_kv_blocks == 2**30 // (16 * 131_072)


def test_several_devices_are_faster_than_one():
    one, eight = (
        seconds_of_a_pass(build(replace(H200, device=f"sim:h200{n}"))) for n in ("", "x8")
    )
    assert 1.5 < one / eight < 8


def test_sim_alone_is_qwen3_on_an_h100_unless_a_model_is_named():
    assert build(ModelSpec(device="sim")).info.model == "Qwen3-8B"
    assert build(ModelSpec("mistral-7b", "sim")).info.model == "Mistral-7B-v0.3"
    assert build(ModelSpec(device="sim:h100")).info.model == "tiny"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"attention": "flash"}, "a simulation cannot tell what --attention changes; leave it out"),
        ({"quantization": "int8"}, "cannot tell what --quantization changes"),
        ({"compiles": True}, "cannot tell what --compile changes"),
        ({"enforce_eager": True}, "cannot tell what --enforce-eager changes"),
        ({"load_format": "gguf"}, "unknown load format 'gguf'; known: auto, dummy"),
        ({"tensor_parallel_size": 2}, "names its devices in --device, as sim:h200x2"),
    ],
)
def test_what_a_simulation_would_ignore_is_refused(given, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        build(ModelSpec(device="sim:h200", **given))


def test_a_straight_line_knows_no_hardware():
    core = build(ModelSpec(device="sim:linear"))
    assert (core.info.model, core.info.device) == ("linear cost", "simulated")
    assert seconds_of_a_pass(core) == pytest.approx(0.012 + 64 * 2e-5 + 3e-5 + 64 * 2e-8)


def test_a_cost_may_stand_in_for_that_of_the_device():
    assert seconds_of_a_pass(build(H200, Linear(pass_ms=500.0))) > 0.5


def test_a_cache_beyond_the_memory_is_refused():
    with pytest.raises(ConfigError) as caught:
        build(H200, num_kv_blocks=60_000)
    assert str(caught.value) == (
        "60000 KV blocks of 16 tokens do not fit; beside the weights there is room for 52852"
    )


def test_on_a_thread_simulated_hardware_takes_the_time_that_it_says():
    backend = LocalBackend(partial(build_core, H200, EngineSettings()))
    backend.start()
    backend.submit(ask(num_prompt_tokens=64, max_tokens=4))
    deadline = time.monotonic() + PATIENCE
    while not events_of(backend.log, Finished):
        assert time.monotonic() < deadline, backend.log.since(0)[0]
        time.sleep(0.001)
    backend.stop()
    passes = [step for step in events_of(backend.log, Step) if step.rows]
    weights = 2 * (6_979_321_856 + 128_256 * 4096)
    assert len(passes) == 4
    assert min(step.duration for step in passes) >= weights / (4.8e12 * 0.7)


@pytest.mark.parametrize(
    ("device", "model", "message"),
    [
        ("sim:h20", "tiny", "unknown device 'sim:h20'; did you mean 'sim:h200'?"),
        ("sim:h100", "llama-3.1-70b", "Llama-3.1-70B does not fit: its weights take 141.1 GB"),
        ("sim:t4", "lama-3.2-1b", "did you mean 'llama-3.2-1b'?"),
        ("sim:gone.toml", "tiny", "gone.toml: cannot be read: No such file or directory"),
    ],
)
def test_the_command_line_says_what_cannot_be_simulated_and_exits_2(device, model, message):
    arguments = ["run", "straggler", "--device", device, "--model", model]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_command_line_runs_a_preset_on_simulated_hardware_and_says_so():
    arguments = ["run", "straggler", "--device", "sim:h200", "--model", "llama-3.1-8b"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert "Llama-3.1-8B on NVIDIA H200 SXM (simulated, times come from a cost model)" in " ".join(
        result.stdout.split()
    )
