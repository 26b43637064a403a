"""Models whose parts and attention are our own kernels generate what `generate` does."""

from __future__ import annotations

import pytest

from engine.runners.layers.fuse import CpuKit, fuse
from engine.runners.layers.pack_linears import pack_linears
from engine.runners.loading.load import DummyTokenizer
from engine.runners.loading.support import adopt
from engine.runners.native.parts import NativeMaker
from engine.runners.torch_runner import TorchRunner
from tests.builders import make_core, make_info
from tests.runners.builders import (
    BLOCK_SIZE,
    MODELS,
    VOCAB_SIZE,
    generate,
    make_model,
    make_requests,
    serve,
)
from tests.runners.native_kernels import make_native


def make_native_runner(name: str) -> TorchRunner:
    native, model = make_native(), make_model(name)
    maker = NativeMaker(native.kernels)
    fuse(model, CpuKit(maker))
    pack_linears(model, maker)
    runner = TorchRunner(model, adopt(model, "auto", native), frozenset(), max_model_len=256)
    runner.resize(64, BLOCK_SIZE)
    return runner


@pytest.mark.parametrize("name", [name for name in MODELS if name != "gpt2"])
@pytest.mark.parametrize("threshold", [0, BLOCK_SIZE + 1], ids=["whole prompts", "chunks"])
def test_tokens_equal_generate(name, threshold):
    runner, original = make_native_runner(name), make_model(name)
    core = make_core(
        runner=runner,
        tokenizer=DummyTokenizer(VOCAB_SIZE, frozenset()),
        info=make_info(256, 64),
        block_size=BLOCK_SIZE,
        max_num_seqs=4,
        long_prefill_token_threshold=threshold,
    )

    outputs = serve(core, make_requests())

    assert runner.attention.name == "native paged"
    assert outputs == {
        request.id: generate(original, request.prompt_token_ids, request.sampling.max_tokens)
        for request in make_requests()
    }


def test_heads_that_are_too_narrow_are_gathered_and_it_says_so():
    assert make_native_runner("gpt2").attention.name == (
        "grouped gather + sdpa (not native: heads of 8 dimensions are no multiple of 16)"
    )
