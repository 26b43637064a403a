"""`build_core`: an engine from the names of a model and of a device.

torch is imported only where a model really runs.
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from difflib import get_close_matches

from engine.clock import Clock
from engine.config import ConfigError
from engine.core import EngineCore
from engine.cost import CostModel, Linear, Roofline
from engine.events import EngineInfo
from engine.hardware import Machine, num_kv_blocks, simulate
from engine.hardware.devices import device_files, find_device
from engine.loading import LoadStage, LoadStep, Report, report_nowhere
from engine.log import EventLog
from engine.runners.costed import CostedRunner
from engine.runners.parallel.launched import check_launch, find_launch
from engine.runners.parts import (
    SMALL_MODEL,
    ModelSpec,
    Parts,
    check_load_format,
    num_blocks_wanted,
)
from engine.runners.quiet import quiet_imports
from engine.runners.sim import SimRunner
from engine.runners.wait_policy import wait_passively
from engine.settings import EngineSettings
from engine.tokenizer import ToyTokenizer

__all__ = ["ModelSpec", "build_core", "check_device", "fit_to_model", "follow_leader"]

NOT_SIMULATED = {  # fields of `ModelSpec` that shape how a real model runs, and their flags
    "attention": "--attention",
    "compiles": "--compile",
    "enforce_eager": "--enforce-eager",
    "quantization": "--quantization",
}
SIM_LINEAR = "sim:linear"
DEVICES = ("auto", "cpu", "cuda", "mps", "sim")
LINEAR_MAX_MODEL_LEN = 8192
CHUNK, SMALL_CHUNK = 512, 64


def build_core(
    spec: ModelSpec,
    settings: EngineSettings,
    clock: Clock,
    log: EventLog,
    cost: CostModel | None = None,
    predecessor: EngineCore | None = None,
    report: Report = report_nowhere,
) -> EngineCore:
    """Load what the specification names and put an engine together.

    Args:
        cost: how long passes take, in place of what the device says. A real model then computes
            its tokens while `clock` stands still, and sleeps as long as the cost model says.
        predecessor: an engine of the same specification that is not needed any more; its model
            is taken over, so that none has to be loaded.
        report: told how far the loading is.

    Raises:
        ConfigError: there is no such model or device, or no memory for it.
    """
    check_device(spec.device)
    check_launch(find_launch(os.environ), spec.tensor_parallel_size)
    if spec.device.startswith("sim"):
        parts = _simulate(spec, settings, clock, cost)
    else:
        report(LoadStep(LoadStage.IMPORT))
        wait_passively()
        with quiet_imports():
            from engine.runners.build import build_parts, refit_parts

        if predecessor:
            runner = predecessor.runner
            inner = runner.runner if isinstance(runner, CostedRunner) else runner
            used = Parts(inner, predecessor.tokenizer, predecessor.info)
            parts = refit_parts(used, spec, settings)
        else:
            parts = build_parts(spec, settings, report)
        if cost:
            costed = CostedRunner(parts.runner, clock, cost)
            parts = replace(parts, runner=costed, info=replace(parts.info, is_simulated=True))
    settings = fit_to_model(settings, parts.info.num_params)
    return EngineCore(settings, parts.info, parts.runner, parts.tokenizer, clock, log)


def follow_leader(spec: ModelSpec) -> bool:
    """Where torchrun started this process to follow another, do so until that one is done.

    Keys that interrupt are for the leader, which tells the others when to end.

    Returns:
        Whether it did, so that nothing is left to do; else this process leads, or is alone.

    Raises:
        ConfigError: torchrun started more or fewer processes than are to share the model.
    """
    launch = find_launch(os.environ)
    check_launch(launch, spec.tensor_parallel_size)
    if launch is None or launch.rank == 0:
        return False
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wait_passively()
    with quiet_imports():
        from engine.runners.parallel.follow import follow
    follow(spec)
    return True


def check_device(name: str) -> None:
    """Refuse what is no device here or anywhere; torch is not asked whether one is here.

    Raises:
        ConfigError: nothing is called so; a simulated device may be what was meant.
    """
    kind = name.partition(":")[0]
    if name.startswith("sim:") and name != SIM_LINEAR:
        find_device(name.removeprefix("sim:"))
    if kind in DEVICES:
        return
    simulated = ("sim", SIM_LINEAR, *(f"sim:{each}" for each in device_files()))
    if close := get_close_matches(name, (*DEVICES[:-1], *simulated), n=1, cutoff=0.5):
        hint = f"did you mean {close[0]!r}?"
    else:
        hint = f"known: {', '.join(DEVICES[:-1])}; or, simulated: {', '.join(simulated)}"
    raise ConfigError(f"unknown device {name!r}; {hint}")


def fit_to_model(settings: EngineSettings, num_params: int) -> EngineSettings:
    """Decide what the settings leave to the model: how large a chunk of a prompt may be.

    Chunks of 512 tokens use a device well; a model as small as the shipped one gets chunks of
    64, or its prompts would hardly ever be cut and nobody could see that they are.
    """
    if settings.long_prefill_token_threshold is not None:
        return settings
    chunk = SMALL_CHUNK if 0 < num_params < SMALL_MODEL else CHUNK
    return replace(settings, long_prefill_token_threshold=chunk)


def _simulate(
    spec: ModelSpec, settings: EngineSettings, clock: Clock, cost: CostModel | None
) -> Parts:
    """A cost model in place of a device, and filler in place of text.

    Raises:
        ConfigError: there is no such device or model, or the model does not fit the device.
    """
    _check_simulated(spec)
    tokenizer = ToyTokenizer()
    if spec.device == SIM_LINEAR:
        info = _describe_linear(settings)
        cost = cost or Linear()
    else:
        name = spec.device.removeprefix("sim").removeprefix(":")
        roofline = simulate(name, spec.model, spec.dtype)
        info = _describe(roofline, spec, settings)
        cost = cost or roofline
    return Parts(SimRunner(clock, cost, tokenizer.vocab_size), tokenizer, info)


def _check_simulated(spec: ModelSpec) -> None:
    """Refuse what the cost model knows nothing of, rather than give times that ignore it.

    Raises:
        ConfigError: there is such a thing in it.
    """
    usual = ModelSpec()
    for name, flag in NOT_SIMULATED.items():
        if getattr(spec, name) != getattr(usual, name):
            raise ConfigError(f"a simulation cannot tell what {flag} changes; leave it out")
    check_load_format(spec.load_format)
    if spec.tensor_parallel_size > 1:
        shared = f"sim:h200x{spec.tensor_parallel_size}"
        raise ConfigError(f"a simulation names its devices in --device, as {shared}")


def _describe(cost: Roofline, spec: ModelSpec, settings: EngineSettings) -> EngineInfo:
    """What a simulation of hardware says of itself.

    Raises:
        ConfigError: weights and KV cache are more than the device has memory for.
    """
    max_model_len = cost.model.max_position_embeddings
    num_that_fit = num_kv_blocks(cost, settings.block_size, spec.kv_memory_gib)
    if settings.num_kv_blocks > num_that_fit:
        raise ConfigError(
            f"{settings.num_kv_blocks} KV blocks of {settings.block_size} tokens do not fit; "
            f"beside the weights there is room for {num_that_fit}"
        )
    return EngineInfo(
        model=cost.model.name,
        device=Machine(cost.device, cost.tensor_parallel_size).name,
        dtype=cost.dtype,
        attention="-",
        num_params=cost.model.num_params,
        num_lookup_params=cost.model.num_lookup_params,
        max_model_len=max_model_len,
        num_kv_blocks=min(num_blocks_wanted(settings, max_model_len), num_that_fit),
        block_size=settings.block_size,
        kv_bytes_per_token=cost.kv_bytes_per_token,
        is_simulated=True,
    )


def _describe_linear(settings: EngineSettings) -> EngineInfo:
    return EngineInfo(
        model="linear cost",
        device="simulated",
        dtype="-",
        attention="-",
        num_params=0,
        max_model_len=LINEAR_MAX_MODEL_LEN,
        num_kv_blocks=num_blocks_wanted(settings, LINEAR_MAX_MODEL_LEN),
        block_size=settings.block_size,
        is_simulated=True,
    )
