"""A fused model is the same model, and what cannot be fused stays as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from engine.runners.layers.decoder_layer import DecoderLayer
from engine.runners.layers.fuse import CpuKit, fuse
from engine.runners.layers.gated_mlp import GatedMlp
from engine.runners.layers.pack_linears import pack_linears
from engine.runners.layers.rms_norm import RmsNorm
from engine.runners.loading.load import DummyTokenizer
from tests.builders import make_core, make_info
from tests.runners.builders import (
    BLOCK_SIZE,
    MODELS,
    VOCAB_SIZE,
    generate,
    make_model,
    make_requests,
    make_runner,
    serve,
)

PARTS = (DecoderLayer, GatedMlp, RmsNorm)


def make_fused(name: str) -> torch.nn.Module:
    model = make_model(name)
    fuse(model, CpuKit())
    pack_linears(model)
    return model


def scaled(forward: Callable[..., Any], **inputs: Any) -> tuple[torch.Tensor, None]:
    """What an attention module gives, a little smaller."""
    output, weights = forward(**inputs)
    return 0.99 * output, weights


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("llama", {DecoderLayer: 2, GatedMlp: 2, RmsNorm: 2 * 2 + 1}),
        ("qwen3", {DecoderLayer: 2, GatedMlp: 2, RmsNorm: 2 * 3 + 1}),
        ("gemma3", {GatedMlp: 2}),
        ("gemma2", {GatedMlp: 2}),
        ("gpt-oss", {RmsNorm: 2 * 2 + 1}),
        ("gpt2", {}),
    ],
)
def test_as_much_is_fused_as_a_models_structure_allows(name, parts):
    kinds = Counter(type(module) for module in make_fused(name).modules())

    assert {kind: kinds[kind] for kind in PARTS if kinds[kind]} == parts


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("threshold", [0, BLOCK_SIZE + 1], ids=["whole prompts", "chunks"])
def test_tokens_equal_generate(name, threshold):
    core = make_core(
        runner=make_runner(make_fused(name)),
        tokenizer=DummyTokenizer(VOCAB_SIZE, frozenset()),
        info=make_info(256, 64),
        block_size=BLOCK_SIZE,
        max_num_seqs=4,
        long_prefill_token_threshold=threshold,
    )
    original = make_model(name)

    outputs = serve(core, make_requests())

    assert outputs == {
        request.id: generate(original, request.prompt_token_ids, request.sampling.max_tokens)
        for request in make_requests()
    }


def test_a_layer_that_only_looks_like_the_usual_one_is_left_alone():
    model = make_model("llama")
    attention = model.model.layers[1].self_attn
    attention.forward = partial(scaled, attention.forward)

    fuse(model, CpuKit())

    assert [type(part) is DecoderLayer for part in model.model.layers] == [True, False]


def test_a_fused_model_in_bfloat16_is_as_near_to_the_true_logits_as_the_original():
    ids = torch.tensor([[5, 6, 7, 90, 4]])
    true, original, fused = (make_model("llama") for _ in range(3))
    original.to(torch.bfloat16)
    fused.to(torch.bfloat16)

    assert fuse(fused, CpuKit()) == 3

    fused.set_attn_implementation("sdpa")  # "eager" is not one that can be looked up
    with torch.inference_mode():
        expected = true(ids).logits
        errors = [(model(ids).logits - expected).abs().mean() for model in (original, fused)]
    assert errors[1] < 1.2 * errors[0]


def test_in_half_precision_which_no_product_here_computes_only_norms_are_fused():
    model = make_model("llama").to(torch.float16)

    assert fuse(model, CpuKit()) == 2 * 2 + 1
    assert {type(module) for module in model.modules()}.intersection(PARTS) == {RmsNorm}


def test_what_is_in_double_precision_is_left_as_it_was():
    model = make_model("llama").to(torch.float64)

    assert fuse(model, CpuKit()) == 0


def test_a_model_that_cannot_run_is_left_as_it_was():
    model = make_model("llama")
    model.model.layers[0].mlp.down_proj = torch.nn.Linear(3, 3)

    assert fuse(model, CpuKit()) == 0
