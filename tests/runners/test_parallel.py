"""Two processes that share a model give the tokens of one that has it alone."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import replace

import pytest
import torch

from engine.assembly import build_core
from engine.clock import VirtualClock
from engine.config import ConfigError
from engine.cost.several import split_several
from engine.events import Finished
from engine.log import EventLog
from engine.request import Request, SamplingParams
from engine.run import run
from engine.runners.parallel.followers import Followers
from engine.runners.parallel.ranks import choose_rank_device, dismiss
from engine.runners.parts import ModelSpec
from engine.runners.peaks import measure_peaks
from engine.settings import EngineSettings
from engine.workload import Listed
from tests.builders import events_of, outputs_of

SETTINGS = EngineSettings(num_kv_blocks=40, max_num_batched_tokens=16)


def make_requests() -> list[Request]:
    kinds = ({}, {"temperature": 0.8}, {"temperature": 0.8, "top_k": 20})
    return [
        Request(f"r{at}", tuple(range(3, 23 + at)), SamplingParams(max_tokens=8, **kind))
        for at, kind in enumerate(kinds)
    ]


@pytest.mark.slow
def test_the_tokens_are_those_of_one_process_also_after_the_cache_has_changed():
    log, shared_log = EventLog(), EventLog()
    run(build_core(ModelSpec(device="cpu"), SETTINGS, VirtualClock(), log), Listed(make_requests()))
    spec = ModelSpec(device="cpu", tensor_parallel_size=2)

    core = build_core(spec, SETTINGS, VirtualClock(), shared_log)
    ranks = core.runner.ranks
    try:
        run(core, Listed(make_requests()))
        first = outputs_of(shared_log)
        core.configure(EngineSettings(num_kv_blocks=30, block_size=8))
        again = [Request(f"again {r.id}", r.prompt_token_ids, r.sampling) for r in make_requests()]
        run(core, Listed(again[:1]))
    finally:
        ranks.close()

    assert first == outputs_of(log)
    assert outputs_of(shared_log)["again r0"] == first["r0"]
    info, alone = core.info, measure_peaks(torch.device("cpu"), torch.float32, 1)
    assert (split_several(info.device), info.num_params) == (("cpu", 2), 3_475_712)
    assert (info.peak_bandwidth, info.peak_flops) == (2 * alone[0], 2 * alone[1])
    assert "RANK" not in os.environ
    assert not torch.distributed.is_initialized()


@pytest.mark.slow
def test_ranks_that_are_out_of_step_run_no_further_pass(monkeypatch):
    log = EventLog()
    core = build_core(
        ModelSpec(device="cpu", tensor_parallel_size=2), SETTINGS, VirtualClock(), log
    )

    def run_out_of_memory(*_: object) -> None:
        raise torch.OutOfMemoryError("the device is full")

    try:
        with monkeypatch.context() as patch:
            patch.setattr(core.runner, "_forward", run_out_of_memory)
            run(core, Listed(make_requests()[:1]))
        run(core, Listed(make_requests()[1:]))
    finally:
        core.runner.ranks.close()

    first, *others = [end.message for end in events_of(log, Finished)]
    assert first.startswith("out of device memory in a pass of")
    assert {other.partition(";")[0] for other in others} == {"rank 1 of 2 has ended (signal 9)"}
    assert not torch.distributed.is_initialized()


@pytest.mark.slow
def test_one_that_dies_while_the_others_wait_for_it_is_told_of_at_once():
    log = EventLog()
    core = build_core(
        ModelSpec(device="cpu", tensor_parallel_size=2), SETTINGS, VirtualClock(), log
    )
    [follower] = core.runner.ranks.processes
    stopped, dies = follower.pid, threading.Timer(1.0, follower.kill)
    try:
        run(core, Listed(make_requests()[:1]))
        os.kill(stopped, signal.SIGSTOP)  # so that this process waits in the middle of a layer
        dies.start()
        began = time.monotonic()
        run(core, Listed([replace(make_requests()[1], arrival=core.clock.now())]))
        waited = time.monotonic() - began
    finally:
        dies.cancel()
        follower.kill()
        core.runner.ranks.close()

    first, second = [end.message for end in events_of(log, Finished)]
    assert first == ""
    assert second.startswith("rank 1 of 2 has ended (signal 9)")
    assert 1.0 < waited < 10.0


def test_those_that_still_load_are_not_waited_for():
    program = [sys.executable, "-c", "import time; time.sleep(600)"]
    followers = Followers(program, [{}, {}])
    began = time.monotonic()
    dismiss(followers)
    assert not followers.are_alive
    assert time.monotonic() - began < 10.0


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"tensor_parallel_size": 0}, "tensor_parallel_size: must be at least 1, got 0"),
        (
            {"tensor_parallel_size": 2, "compiles": True},
            "--tensor-parallel goes with neither --compile nor --quantization",
        ),
    ],
    ids=["none", "compiled"],
)
def test_what_does_not_go_together_is_refused(knobs, message):
    with pytest.raises(ConfigError) as caught:
        ModelSpec(**knobs)

    assert str(caught.value) == message


def test_more_devices_than_there_are_cannot_share_a_model():
    with pytest.raises(ConfigError, match="--tensor-parallel works on CUDA and CPU, not on mps"):
        choose_rank_device(torch.device("mps"), 2)
    if torch.cuda.device_count() < 64:
        with pytest.raises(ConfigError, match="--tensor-parallel 64 needs 64 CUDA devices here"):
            choose_rank_device(torch.device("cuda"), 64)
