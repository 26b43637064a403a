"""What a core is made from: a `ModelSpec` goes in, `Parts` come out."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import EngineInfo
from engine.plan import Runner
from engine.settings import EngineSettings
from engine.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model runs where.

    Attributes:
        model: `tiny`, `smollm2`, a folder, or a name on the Hugging Face hub.
        device: `auto`, `cpu`, `cuda`, `mps`; `sim` and `sim:linear` compute nothing and take
            their times from a cost model.
        dtype: `auto` is float32, except on CUDA, where it is bfloat16.
        load_format: `dummy` takes seeded random weights in place of the model's own.
        attention: how attention is computed; `auto` chooses.
        kv_memory_gib: memory for the KV cache; 0 for a share of what is free.
        num_threads: of the CPU; 0 for what suits the model.
    """

    model: str = "tiny"
    device: str = "auto"
    dtype: str = "auto"
    load_format: str = "auto"
    attention: str = "auto"
    kv_memory_gib: float = 0.0
    num_threads: int = 0


@dataclass(frozen=True, slots=True)
class Parts:
    """What a core needs beside settings, clock and log."""

    runner: Runner
    tokenizer: Tokenizer
    info: EngineInfo


def num_blocks_wanted(settings: EngineSettings, max_model_len: int) -> int:
    """Blocks with which no sequence is ever preempted, whichever batcher is switched to."""
    longest = min(settings.max_model_len or max_model_len, max_model_len)
    num_slots = max(settings.max_num_seqs, settings.max_batch_size)
    return num_slots * -(-longest // settings.block_size)
