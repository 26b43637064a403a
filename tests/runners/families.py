"""Smallest configurations of many model families, and of some that a paged cache cannot serve."""

from __future__ import annotations

import copy
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from tests.runners.builders import VOCAB_SIZE

SHAPE: dict[str, Any] = {
    "vocab_size": VOCAB_SIZE,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": None,
}
ENDS = {key: SHAPE[key] for key in ("vocab_size", "pad_token_id", "bos_token_id", "eos_token_id")}
NO_GQA = {key: value for key, value in SHAPE.items() if key != "num_key_value_heads"}
GPT = ENDS | {"n_embd": 64, "n_layer": 4, "n_head": 4, "n_positions": 256}
WINDOW = {"sliding_window": 8}
MIXED = WINDOW | {"layer_types": ["sliding_attention", "full_attention"] * 2}
GEMMA = {"head_dim": 32, "query_pre_attn_scalar": 32}
EXPERTS = {"num_experts_per_tok": 2}

SERVED: dict[str, tuple[str, dict[str, Any]]] = {
    "Llama": ("llama", SHAPE),
    "Mistral": ("mistral", SHAPE | {"sliding_window": None}),
    "Mistral with a window": ("mistral", SHAPE | WINDOW),
    "Mixtral": ("mixtral", SHAPE | EXPERTS | {"num_local_experts": 4, "sliding_window": None}),
    "Qwen2": ("qwen2", SHAPE),
    "Qwen3": ("qwen3", SHAPE | {"head_dim": 32}),
    "Qwen3 with experts": (
        "qwen3_moe",
        SHAPE | EXPERTS | {"num_experts": 4, "moe_intermediate_size": 32, "head_dim": 16},
    ),
    "Gemma": ("gemma", SHAPE | {"head_dim": 32}),
    "Gemma 2": ("gemma2", SHAPE | GEMMA | WINDOW),
    "Gemma 3": ("gemma3_text", SHAPE | GEMMA | MIXED),
    "GPT-2": ("gpt2", GPT),
    "GPT-NeoX": ("gpt_neox", NO_GQA),
    "gpt-oss": ("gpt_oss", SHAPE | EXPERTS | MIXED | {"num_local_experts": 4, "head_dim": 16}),
    "Phi": ("phi", SHAPE),
    "Phi 3": ("phi3", SHAPE),
    "OLMo 2": ("olmo2", SHAPE),
    "OLMo 3": ("olmo3", SHAPE | WINDOW),
    "Granite": ("granite", SHAPE | {"attention_multiplier": 0.2}),
    "SmolLM3": ("smollm3", SHAPE | {"no_rope_layers": [1, 1, 1, 0]}),
    "StableLM": ("stablelm", SHAPE),
    "StarCoder 2": ("starcoder2", SHAPE | WINDOW),
    "Cohere 2": ("cohere2", SHAPE | WINDOW | {"head_dim": 16}),
    "DeepSeek V3": (
        "deepseek_v3",
        SHAPE
        | EXPERTS
        | {
            "num_key_value_heads": 4,
            "q_lora_rank": 32,
            "kv_lora_rank": 16,
            "qk_rope_head_dim": 16,
            "qk_nope_head_dim": 16,
            "v_head_dim": 24,
            "n_routed_experts": 4,
            "n_group": 1,
            "topk_group": 1,
            "n_shared_experts": 1,
            "moe_intermediate_size": 32,
            "first_k_dense_replace": 2,
        },
    ),
    "GLM 4": ("glm4", SHAPE | {"head_dim": 16}),
    "EXAONE 4": ("exaone4", SHAPE | WINDOW),
    "Ernie 4.5": ("ernie4_5", SHAPE | {"head_dim": 16}),
    "Nemotron": ("nemotron", SHAPE),
}

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "Falcon": (
        "falcon",
        NO_GQA,
        "FalconForCausalLM is not supported: 0 of its 4 layers use transformers' attention "
        "interface",
    ),
    "MPT": (
        "mpt",
        ENDS | {"d_model": 64, "n_heads": 4, "n_layers": 4, "max_seq_len": 256},
        "MptForCausalLM is not supported: 0 of its 4 layers use",
    ),
    "Llama 4": (
        "llama4_text",
        SHAPE
        | {
            "head_dim": 16,
            "intermediate_size_mlp": 96,
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
            "attention_chunk_size": 8,
        },
        "Llama4ForCausalLM is not supported: its attention is cut into chunks of the context",
    ),
    "LFM 2": (
        "lfm2",
        SHAPE | {"layer_types": ["conv", "full_attention"] * 2},
        "Lfm2ForCausalLM is not supported: its conv layers keep a state",
    ),
    "Mamba": (
        "mamba",
        ENDS | {"hidden_size": 64, "num_hidden_layers": 4},
        "MambaForCausalLM is not supported: ",
    ),
    "dynamic RoPE": (
        "llama",
        SHAPE | {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}},
        "LlamaForCausalLM is not supported: its dynamic RoPE depends on the longest sequence",
    ),
    "longrope": (
        "phi3",
        SHAPE
        | {
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 1e4,
                "short_factor": [1.0] * 8,
                "long_factor": [2.0] * 8,
                "original_max_position_embeddings": 128,
            },
        },
        "Phi3ForCausalLM is not supported: its longrope RoPE depends on the longest sequence",
    ),
}


def make_family(model_type: str, shape: dict[str, Any]) -> PreTrainedModel:
    """A model of that type, always with the same weights."""
    config = AutoConfig.for_model(model_type, **copy.deepcopy(shape))
    torch.manual_seed(0)
    model: PreTrainedModel = AutoModelForCausalLM.from_config(
        config,
        attn_implementation="eager",  # it alone knows all the options
    )
    return model.eval()
