"""`build_parts`: a loaded model, its runner and a KV cache of the right size."""

from __future__ import annotations

from dataclasses import replace

import torch
from transformers import PreTrainedModel

from engine.config import ConfigError
from engine.cost.several import name_several
from engine.events import EngineInfo
from engine.loading import LoadStage, LoadStep, Report, report_nowhere
from engine.plan import RunnerError
from engine.runners.attention.choice import can_compile_kernels, check_name
from engine.runners.attention.paged_attention import PagedAttention
from engine.runners.attention.ways import find_platform
from engine.runners.capture import Capture, CudaCapture
from engine.runners.costed import CostedRunner
from engine.runners.device import (
    choose_device,
    describe_device,
    device_uuid,
    free_memory,
    use_device,
)
from engine.runners.first_line import first_line
from engine.runners.layers import plain_ops
from engine.runners.layers.fuse import CpuKit, DeviceKit, fuse
from engine.runners.layers.maker import OneDnnMaker, PartMaker
from engine.runners.layers.pack_linears import pack_linears
from engine.runners.loading.extras import require
from engine.runners.loading.load import LoadedModel, load_model
from engine.runners.loading.precision import choose_precision
from engine.runners.loading.quantize import NONE, check_method, quantize
from engine.runners.loading.support import adopt
from engine.runners.native.find import NO_NATIVE, Native, find_native
from engine.runners.native.parts import NativeMaker
from engine.runners.parallel.ranks import Ranks, choose_rank_device
from engine.runners.parts import SMALL_MODEL, ModelSpec, Parts, num_blocks_wanted
from engine.runners.peaks import measure_peaks
from engine.runners.torch_runner import TorchRunner
from engine.settings import EngineSettings

CPU_SHARE = 0.25  # of the free memory, for the KV cache; others live there too
DEVICE_SHARE = 0.8
COMPILER = "inductor"
COMPILE_ERRORS = (RuntimeError, OSError, ImportError, AttributeError, TypeError, ValueError)


def build_parts(
    spec: ModelSpec, settings: EngineSettings, report: Report = report_nowhere
) -> Parts:
    """Load the model and make room for its KV cache.

    Raises:
        ConfigError: there is no such model, device or way to attend, or no memory for it.
    """
    check_name(spec.attention)
    check_method(spec.quantization)
    device, ranks = choose_device(spec.device), None
    if spec.tensor_parallel_size > 1:
        require("accelerate", f"--tensor-parallel {spec.tensor_parallel_size}", extra="parallel")
        device = choose_rank_device(device, spec.tensor_parallel_size)
        ranks = Ranks(spec, device)
    loaded, attention = load_for(spec, device, report)
    dtype = loaded.model.dtype
    num_threads = torch.get_num_threads()
    report(LoadStep(LoadStage.MEASURE))
    peaks = measure_peaks(device, dtype, num_threads)
    report(LoadStep(LoadStage.CACHE))
    num_blocks = _make_room(spec, settings, device, loaded.max_model_len, attention)
    info = EngineInfo(
        model=spec.model if spec.load_format == "auto" else f"{spec.model} ({spec.load_format})",
        device=name_several(describe_device(device), spec.tensor_parallel_size),
        dtype=str(dtype).removeprefix("torch."),
        attention=attention.name,
        num_params=loaded.num_params,
        num_lookup_params=loaded.num_lookup_params,
        max_model_len=loaded.max_model_len,
        num_kv_blocks=num_blocks,
        block_size=settings.block_size,
        kv_bytes_per_token=attention.kv_bytes_per_token * spec.tensor_parallel_size,
        num_threads=num_threads,
        device_uuid=device_uuid(device),
        peak_bandwidth=peaks[0] * spec.tensor_parallel_size,
        peak_flops=peaks[1] * spec.tensor_parallel_size,
    )
    runner = TorchRunner(
        loaded.model,
        attention,
        loaded.tokenizer.eos_token_ids,
        make_capture(spec, device),
        loaded.max_model_len,
        COMPILER if spec.compiles else None,
        ranks,
    )
    report(LoadStep(LoadStage.COMPILE if spec.compiles else LoadStage.CAPTURE))
    info = replace(
        info,
        quantization="" if spec.quantization == NONE else spec.quantization,
        compilation=compile_now(runner, device) if spec.compiles else "",
        graphs=prepare_graphs(runner, spec, settings),
    )
    return Parts(runner, loaded.tokenizer, info)


def load_for(
    spec: ModelSpec, device: torch.device, report: Report = report_nowhere
) -> tuple[LoadedModel, PagedAttention]:
    """Load the model, or this process's share of it, and have it use attention of our own.

    Raises:
        ConfigError: there is no such model, or it cannot be served.
    """
    use_device(device)
    dtype = choose_precision(spec, device)
    is_sharded = spec.tensor_parallel_size > 1
    loaded = load_model(spec.model, device, dtype, spec.load_format, report, is_sharded=is_sharded)
    set_threads(spec.num_threads, loaded.num_params)
    native = NO_NATIVE
    if device.type == "cpu":
        native = find_native(dtype, torch.get_num_threads(), report)
    report(LoadStep(LoadStage.ARRANGE))
    quantize(loaded.model, spec.quantization)
    if not is_sharded and spec.quantization == NONE:
        arrange(loaded.model, device, native, compiles=spec.compiles)
    return loaded, adopt(loaded.model, spec.attention, native)


def choose_maker(native: Native) -> PartMaker:
    """What a model on the CPU is made of: our own kernels, or oneDNN's.

    Ours are made for AVX-512, whose registers hold a tile of theirs; with AMX, oneDNN computes many
    tokens in bfloat16 several times as fast.
    """
    kernels = native.kernels
    if kernels is None:
        return OneDnnMaker()
    suits: bool = torch.cpu._is_avx512_supported()
    if kernels.dtype is torch.bfloat16:
        has_pairs: bool = torch.cpu._is_avx512_bf16_supported()
        suits = has_pairs and not torch.cpu._is_amx_tile_supported()
    return NativeMaker(kernels) if suits else OneDnnMaker()


def arrange(
    model: PreTrainedModel, device: torch.device, native: Native, *, compiles: bool
) -> None:
    """Have the model take fewer operations, with the kernels that there are for the device.

    Args:
        compiles: `torch.compile` makes the kernels, and is to find what it can see through.
    """
    if device.type == "cpu" and not compiles:
        maker = choose_maker(native)
        fuse(model, CpuKit(maker))
        pack_linears(model, maker)
    if device.type != "cuda":
        return
    if not compiles and can_compile_kernels(find_platform(device)):
        from engine.runners.triton import fused_ops

        if fuse(model, DeviceKit(fused_ops)):
            return
    fuse(model, DeviceKit(plain_ops))


def refit_parts(parts: Parts, spec: ModelSpec, settings: EngineSettings) -> Parts:
    """The same model with a KV cache for other settings; the old cache is freed.

    Raises:
        ConfigError: there is no memory for it.
    """
    runner = parts.runner.runner if isinstance(parts.runner, CostedRunner) else parts.runner
    assert isinstance(runner, TorchRunner)
    use_device(runner.model.device)
    _resize(runner.attention, 1, settings.block_size)
    device, max_model_len = runner.model.device, parts.info.max_model_len
    num_blocks = _make_room(spec, settings, device, max_model_len, runner.attention)
    info = replace(
        parts.info,
        attention=runner.attention.name,
        num_kv_blocks=num_blocks,
        block_size=settings.block_size,
        graphs=prepare_graphs(runner, spec, settings),
    )
    return replace(parts, runner=runner, info=info)


def compile_now(runner: TorchRunner, device: torch.device) -> str:
    """Have the model compiled before the first request comes.

    Returns:
        What was done, for the screen.

    Raises:
        ConfigError: there is no compiler, or it cannot do it.
    """
    try:
        runner.rehearse()
    except COMPILE_ERRORS as error:
        raise ConfigError(f"--compile: {first_line(error)}; run without it") from error
    return "torch.compile" + (", which makes a CPU slower" if device.type == "cpu" else "")


def make_capture(spec: ModelSpec, device: torch.device) -> Capture | None:
    """What records passes on the device, if there is such a thing and it is wanted."""
    is_wanted = not spec.enforce_eager and spec.tensor_parallel_size == 1
    return CudaCapture(device) if device.type == "cuda" and is_wanted else None


def prepare_graphs(runner: TorchRunner, spec: ModelSpec, settings: EngineSettings) -> str:
    """Record the graphs that the settings have slots for; say what there is, or why not."""
    if spec.tensor_parallel_size > 1:
        return "off: --tensor-parallel"
    if spec.enforce_eager and runner.model.device.type == "cuda":
        return "off: --enforce-eager"
    return runner.prepare(settings.num_slots)


def set_threads(num_threads: int, num_params: int) -> int:
    """Give torch its CPU threads: as many as asked for, or one for a small model.

    A small model loses more to a second thread than it gains; a large one gets one a core.

    Returns:
        How many it has.
    """
    if num_threads or num_params < SMALL_MODEL:
        torch.set_num_threads(num_threads or 1)
    return torch.get_num_threads()


def _make_room(
    spec: ModelSpec,
    settings: EngineSettings,
    device: torch.device,
    max_model_len: int,
    attention: PagedAttention,
) -> int:
    """Size the cache: as many blocks as could ever be used, or as the memory holds.

    Returns:
        How many, before the settings have their say.

    Raises:
        ConfigError: the memory does not even hold one, or not those that the settings want.
    """
    share = CPU_SHARE if device.type == "cpu" else DEVICE_SHARE
    memory = spec.kv_memory_gib * 2**30 or free_memory(device) * share
    num_that_fit = int(memory // (settings.block_size * attention.kv_bytes_per_token)) - 1
    if num_that_fit < 1:
        raise ConfigError(f"{memory / 2**30:.3f} GiB do not hold two KV blocks of the model")
    num_blocks = min(num_blocks_wanted(settings, max_model_len), num_that_fit)
    _resize(attention, settings.num_kv_blocks or num_blocks, settings.block_size)
    return num_blocks


def _resize(attention: PagedAttention, num_blocks: int, block_size: int) -> None:
    """Make the cache that large.

    Raises:
        ConfigError: there is no memory for it, or the way to attend cannot read such blocks.
    """
    try:
        attention.resize(num_blocks, block_size)
    except RunnerError as error:
        raise ConfigError(str(error)) from error
