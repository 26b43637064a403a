"""Llamas of random weights with a tokenizer, for every engine that loads a folder."""

from __future__ import annotations

import string
from itertools import chain, islice, product
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

SPECIAL = ("<pad>", "<s>", "</s>")
PRINTABLE = string.ascii_letters + string.digits + string.punctuation
SHAPES = {
    "10m": {
        "vocab_size": 8192,
        "hidden_size": 256,
        "intermediate_size": 768,
        "num_hidden_layers": 10,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
    "135m": {  # as SmolLM2-135M
        "vocab_size": 49_152,
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
    },
}


def save_random_llama(name: str, folder: Path) -> Path:
    """Write the model to a folder of its name, unless it is there."""
    place = folder / name
    if not (place / "tokenizer.json").exists():
        torch.manual_seed(0)
        config = LlamaConfig(
            **SHAPES[name],
            head_dim=64,
            max_position_embeddings=2048,
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            dtype="float32",
        )
        model, tokenizer = LlamaForCausalLM(config), make_tokenizer(config.vocab_size)
        mute(model, tokenizer)
        model.save_pretrained(place)
        tokenizer.save_pretrained(place)
    return place


def mute(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    """Give tokens that are no text on their own a logit of 0, which is never the largest."""
    words = tokenizer.convert_ids_to_tokens(range(model.config.vocab_size))
    mute_ids = [index for index, word in enumerate(words) if not set(word) <= set(PRINTABLE)]
    with torch.no_grad():
        model.get_input_embeddings().weight[[0, 1, 2, *mute_ids]] = 0


def make_tokenizer(vocab_size: int) -> PreTrainedTokenizerFast:
    """Special tokens, one for every byte, and words of two or three letters."""
    words = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    pairs = product(PRINTABLE, PRINTABLE)
    triples = product(("".join(pair) for pair in product(PRINTABLE, PRINTABLE)), PRINTABLE)
    merges = list(islice(chain(pairs, triples), vocab_size - len(words)))
    words += ["".join(parts) for parts in merges]
    vocab = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(vocab, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    pad, bos, eos = SPECIAL
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=pad, bos_token=bos, eos_token=eos
    )
