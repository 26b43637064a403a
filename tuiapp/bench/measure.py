"""Measure everything that a benchmark tells, one part after the other."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.assembly import build_core
from engine.bench.contest import Contender, ContestError, Standing, hold
from engine.bench.decode import DecodePoint, measure_decode
from engine.bench.generate import Generate, GenerateBatch, load_reference
from engine.bench.launching import VLLM, Limits, serving, write_command
from engine.bench.memory import peak_memory
from engine.bench.scheduling import StepCost, measure_scheduling
from engine.bench.served import Served
from engine.bench.this_engine import ThisEngine
from engine.bench.traffic import Traffic
from engine.clock import WallClock
from engine.config import ConfigError
from engine.core import EngineCore
from engine.events import EngineInfo
from engine.log import EventLog
from engine.metrics.host_time import HostReport
from engine.request import Request
from engine.runners.loading.sources import find_source
from engine.runners.parallel.ports import free_port
from engine.settings import EngineSettings
from tuiapp.bench.request import BenchRequest, Effort
from tuiapp.bench.screen_cost import ScreenCost, measure_screen

KEPT_EVENTS = 8192  # whoever counts reads after every step

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class BenchReport:
    """All that was measured, in one process and one after the other.

    Attributes:
        num_prompt, num_output: tokens of all requests together.
        host: where a pass's time went when this engine served the requests last.
        screen: None where there is no pseudo-terminal to draw in.
        peak_memory: bytes of the device, or of this process on a CPU, with all contenders in it;
            `own_memory` before the others came.
        load_average: processes that ran or wanted to, in the last minute.
    """

    info: EngineInfo
    torch: str
    traffic: Traffic
    num_prompt: int
    num_output: int
    standings: list[Standing]
    decode: list[DecodePoint]
    scheduling: list[StepCost]
    host: HostReport | None
    screen: ScreenCost | None
    own_memory: int
    peak_memory: int
    load_average: float


def measure(request: BenchRequest, say: Say = lambda line: None) -> BenchReport:
    """Measure all parts.

    Args:
        say: told what is measured now.

    Raises:
        ConfigError: there is no such model or device, or a contender fails.
        RunnerError: a pass failed.
    """
    effort = request.effort
    core = _build(request)
    say("decoding passes beside the bandwidth floor")
    decode = measure_decode(core, effort.batch_sizes, effort.num_context, effort.num_passes)
    requests = effort.traffic.draw(core.tokenizer)
    own = ThisEngine(core, requests)
    own_memory = peak_memory(_torch_device(core.info))
    num_output = sum(each.sampling.max_tokens for each in requests)
    try:
        with ExitStack() as servers:
            others = _make_others(request, requests, core.info, servers, say)
            standings = hold([own, *others], num_output, effort.num_rounds, say)
    except ContestError as error:
        raise ConfigError(str(error)) from error
    say("steps that compute nothing")
    scheduling = measure_scheduling(effort.sizes, effort.num_steps)
    say("the screen")
    return BenchReport(
        info=core.info,
        torch=version("torch"),
        traffic=effort.traffic,
        num_prompt=sum(len(each.prompt_token_ids) for each in requests),
        num_output=num_output,
        standings=standings,
        decode=decode,
        scheduling=scheduling,
        host=own.host(),
        screen=measure_screen(request.spec, effort) if effort.num_screens else None,
        own_memory=own_memory,
        peak_memory=peak_memory(_torch_device(core.info)),
        load_average=os.getloadavg()[0],
    )


def _build(request: BenchRequest) -> EngineCore:
    """An engine with a cache for the requests and for the largest decoding pass.

    Raises:
        ConfigError: there is no such model or device, or it is one to simulate.
    """
    if request.spec.device.startswith("sim"):
        raise ConfigError("a simulation has nothing to measure; name a real device, such as cpu")
    settings = _settings(request.effort)
    return build_core(request.spec, settings, WallClock(), EventLog(KEPT_EVENTS))


def _make_others(
    request: BenchRequest, requests: list[Request], info: EngineInfo, servers: ExitStack, say: Say
) -> list[Contender]:
    """Everybody else; each way of transformers has a model of its own, since it alters it.

    Args:
        servers: ends those that are started.

    Raises:
        ContestError: a server does not start, or does not answer.
    """
    traffic = request.effort.traffic
    limits = Limits(
        find_source(request.spec.model).place, info.dtype, traffic.num_slots, traffic.longest
    )
    commands = [*request.commands]
    if request.vllm:
        commands.append(("vLLM", VLLM.replace("{python}", shlex.quote(str(request.vllm)))))
    others: list[Contender] = [
        Generate(load_reference(request.spec), requests, traffic.num_slots),
        GenerateBatch(load_reference(request.spec), requests, traffic),
    ]
    others += [Served(name, url, requests) for name, url in request.peers]
    for name, template in commands:
        say(f"starting {name}")
        port = free_port()
        log = Path(servers.enter_context(TemporaryDirectory())) / "server.log"
        command = write_command(template, limits, port)
        started = serving(name, command, port, log, give_threads(info))
        url, pid = servers.enter_context(started)
        others.append(Served(name, url, requests, pid))
    return others


def give_threads(info: EngineInfo) -> dict[str, str]:
    """What gives a server as many threads of the CPU as this engine has; nothing on a device."""
    if info.device_uuid:
        return {}
    cores = ",".join(map(str, range(info.num_threads)))
    return {
        "OMP_NUM_THREADS": str(info.num_threads),
        "VLLM_CPU_OMP_THREADS_BIND": cores,
        "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    }


def _settings(effort: Effort) -> EngineSettings:
    settings = effort.traffic.settings()
    longest = max(effort.traffic.longest, effort.num_context + effort.num_passes + 1)
    most = max(effort.traffic.num_slots, *effort.batch_sizes)
    num_blocks = most * -(-longest // settings.block_size)
    return replace(settings, num_kv_blocks=num_blocks)


def _torch_device(info: EngineInfo) -> str:
    return "cuda" if info.device_uuid else "cpu"
