"""What a core is made from: a `ModelSpec` goes in, `Parts` come out."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import ConfigError, suggest
from engine.events import EngineInfo
from engine.plan import Runner
from engine.settings import EngineSettings
from engine.tokenizer import Tokenizer

LOAD_FORMATS = ("auto", "dummy")
SMALL_MODEL = 50_000_000  # parameters; below, a pass is short whatever is done about it


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model runs where.

    Attributes:
        model: `tiny`, `smollm2`, a folder, or a name on the Hugging Face hub; for a simulation
            also one of those whose shapes are known, such as `llama-3.1-8b`.
        device: `auto`, `cpu`, `cuda`, `mps`; `sim:NAME` computes nothing and takes its times from
            a cost model: of a device such as `h200`, of eight as `h100x8`, of a device's file, or
            `sim:linear`. `sim` alone is an H100, and runs Qwen3-8B unless a model is named.
        dtype: `auto` is bfloat16 on CUDA, and for a large model on a CPU that computes in it;
            else float32.
        load_format: `dummy` takes seeded random weights in place of the model's own.
        attention: how attention is computed; `auto` chooses.
        kv_memory_gib: memory for the KV cache; 0 for a share of what is free.
        num_threads: of the CPU; 0 for what suits the model.
        enforce_eager: launch every kernel anew, with no CUDA graphs.
        compiles: let `torch.compile` make kernels for the model at the start.
        quantization: `int8` holds the weights of linear layers in 8 bits; `none`.
        tensor_parallel_size: processes, each with a device of its own, that share the model.

    Raises:
        ConfigError: a number is below 0.
    """

    model: str = "tiny"
    device: str = "auto"
    dtype: str = "auto"
    load_format: str = "auto"
    attention: str = "auto"
    kv_memory_gib: float = 0.0
    num_threads: int = 0
    enforce_eager: bool = False
    compiles: bool = False
    quantization: str = "none"
    tensor_parallel_size: int = 1

    def __post_init__(self) -> None:
        for name in ("kv_memory_gib", "num_threads"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"must be at least 0, got {getattr(self, name)}", (name,))
        if self.tensor_parallel_size < 1:
            problem = f"must be at least 1, got {self.tensor_parallel_size}"
            raise ConfigError(problem, ("tensor_parallel_size",))
        if self.tensor_parallel_size > 1 and (self.compiles or self.quantization != "none"):
            raise ConfigError("--tensor-parallel goes with neither --compile nor --quantization")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a core needs beside settings, clock and log."""

    runner: Runner
    tokenizer: Tokenizer
    info: EngineInfo


def check_load_format(name: str) -> None:
    """Refuse a way to get weights that there is not.

    Raises:
        ConfigError: it is none; the message names the nearest.
    """
    if name not in LOAD_FORMATS:
        raise ConfigError(f"unknown load format {name!r}; {suggest(name, LOAD_FORMATS)}")


def num_blocks_wanted(settings: EngineSettings, max_model_len: int) -> int:
    """Blocks with which no sequence is ever preempted, whichever batcher is switched to."""
    longest = min(settings.max_model_len or max_model_len, max_model_len)
    num_slots = max(settings.max_num_seqs, settings.max_batch_size)
    return num_slots * -(-longest // settings.block_size)
