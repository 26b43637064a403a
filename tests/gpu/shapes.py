"""What is measured: models of known shapes with random weights, and how much of each."""

from __future__ import annotations

from dataclasses import dataclass
from shutil import which

from transformers import LlamaConfig, PreTrainedConfig, Qwen3Config

SHAPES: dict[str, PreTrainedConfig] = {
    "0.6B": Qwen3Config(  # Qwen3-0.6B
        vocab_size=151_936,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    ),
    "1B": LlamaConfig(  # Llama-3.2-1B
        vocab_size=128_256,
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=16,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=64,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    ),
    "8B": LlamaConfig(  # Llama-3.1-8B
        vocab_size=128_256,
        hidden_size=4096,
        intermediate_size=14_336,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=4096,
        tie_word_embeddings=False,
    ),
}
TINY = LlamaConfig(
    vocab_size=512,
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    max_position_embeddings=1024,
    pad_token_id=None,
    bos_token_id=None,
    eos_token_id=None,
)


@dataclass(frozen=True)
class Scale:
    """How much is run.

    Attributes:
        batch_sizes: requests at once.
        num_prompt, num_output: tokens of each.
        num_mixed: requests of the mixed workload.
        compiled: the models that are measured compiled too.
        kv_memory_gib: of an engine's cache, more than its requests take.
        seconds: for all parts together.
        needs: seconds that a part may well take, by its kind.
    """

    device: str
    dtype: str
    shapes: dict[str, PreTrainedConfig]
    batch_sizes: tuple[int, ...]
    num_prompt: int
    num_output: int
    num_mixed: int
    compiled: tuple[str, ...]
    kv_memory_gib: float
    seconds: float
    needs: dict[str, float]


LARGEST = "8B"
NEEDS = {"tokens": 30.0, "engine": 30.0, "peer": 40.0, "compiled": 90.0}
FULL = Scale(
    "cuda",
    "bfloat16",
    SHAPES,
    batch_sizes=(1, 8, 64, 256),
    num_prompt=128,
    num_output=64,
    num_mixed=96,
    compiled=tuple(SHAPES),
    kv_memory_gib=20.0,
    seconds=300,
    needs=NEEDS,
)
DRY = Scale(
    "cpu",
    "float32",
    dict.fromkeys(SHAPES, TINY),
    batch_sizes=(1, 3),
    num_prompt=16,
    num_output=6,
    num_mixed=6,
    compiled=(LARGEST,) if which("g++") or which("clang++") else (),
    kv_memory_gib=0.25,
    seconds=300,
    needs=dict.fromkeys(NEEDS, 0.0),
)
