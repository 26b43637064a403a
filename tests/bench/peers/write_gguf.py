"""Write a Llama folder as a GGUF file: `write_gguf.py FOLDER FILE f32|bf16`.

Runs in an environment with `gguf` and `safetensors`. llama.cpp's own converter refuses a
tokenizer that it does not know; the models that are measured have one of their own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gguf
import numpy as np
from safetensors import safe_open

ATTENTION = {"q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output"}
MLP = {"gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down"}
NORMS = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
TOP = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}


def layer_names(index: int) -> dict[str, str]:
    theirs, ours = f"blk.{index}.", f"model.layers.{index}."
    parts = {f"self_attn.{name}": short for name, short in ATTENTION.items()}
    parts |= {f"mlp.{name}": short for name, short in MLP.items()} | NORMS
    return {f"{ours}{name}.weight": f"{theirs}{short}.weight" for name, short in parts.items()}


def write_shape(writer: gguf.GGUFWriter, config: dict) -> None:
    rope = config["rope_parameters"]
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(float(rope["rope_theta"]))
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])


def write_tokenizer(writer: gguf.GGUFWriter, config: dict, tokenizer: dict) -> None:
    tokens = [f"[unused {index}]" for index in range(config["vocab_size"])]
    kinds = [int(gguf.TokenType.UNUSED)] * len(tokens)
    for token, index in tokenizer["model"]["vocab"].items():
        tokens[index], kinds[index] = token, int(gguf.TokenType.NORMAL)
    for added in tokenizer["added_tokens"]:
        tokens[added["id"]], kinds[added["id"]] = added["content"], int(gguf.TokenType.CONTROL)
    merges = tokenizer["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_add_bos_token(False)


def by_pairs(weight: np.ndarray, num_heads: int) -> np.ndarray:
    """Rows of a query or key weight with the two of a rotated pair beside each other."""
    halves = weight.reshape(num_heads, 2, -1, weight.shape[1])
    return halves.swapaxes(1, 2).reshape(weight.shape)


def write_tensors(writer: gguf.GGUFWriter, file: Path, config: dict, is_half: bool) -> None:
    names = dict(TOP)
    for index in range(config["num_hidden_layers"]):
        names |= layer_names(index)
    kind = gguf.GGMLQuantizationType.BF16
    with safe_open(file, "np") as weights:
        for name in weights.keys():  # noqa: SIM118 - it is not a dict
            weight = weights.get_tensor(name).astype(np.float32)
            if "q_proj" in name:
                weight = by_pairs(weight, config["num_attention_heads"])
            if "k_proj" in name:
                weight = by_pairs(weight, config["num_key_value_heads"])
            if is_half and weight.ndim == 2:
                writer.add_tensor(names[name], gguf.quants.quantize(weight, kind), raw_dtype=kind)
            else:
                writer.add_tensor(names[name], weight)


def main() -> None:
    folder, out, dtype = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    config = json.loads((folder / "config.json").read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    writer = gguf.GGUFWriter(out, "llama")
    kinds = {"f32": gguf.LlamaFileType.ALL_F32, "bf16": gguf.LlamaFileType.MOSTLY_BF16}
    writer.add_file_type(kinds[dtype])
    write_shape(writer, config)
    write_tokenizer(writer, config, tokenizer)
    write_tensors(writer, folder / "model.safetensors", config, dtype == "bf16")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
