"""A compiled model gives the tokens of one that is not, in graphs too."""

from __future__ import annotations

import pytest
import torch

from engine.runners.layers import plain_ops
from engine.runners.layers.fuse import DeviceKit, fuse
from engine.runners.loading.load import DummyTokenizer
from engine.runners.loading.support import adopt
from engine.runners.torch_runner import TorchRunner
from tests.builders import make_core, make_info
from tests.runners.builders import (
    VOCAB_SIZE,
    make_model,
    make_requests,
    make_torch_core,
    serve,
)
from tests.runners.fake_capture import FakeCapture

NO_CODE = "eager"  # what torch.compile traces, without a compiler behind it


@pytest.mark.parametrize(
    ("name", "is_fused"), [("llama", False), ("gemma3", False), ("qwen3", True)]
)
def test_tokens_are_those_of_the_model_as_it_is(name, is_fused):
    torch.compiler.reset()
    model = make_model(name)
    if is_fused:
        assert fuse(model, DeviceKit(plain_ops)) == 3
    attention = adopt(model)
    runner = TorchRunner(model, attention, frozenset(), FakeCapture(), 256, NO_CODE)
    runner.resize(64, 4)
    runner.rehearse()
    num_compiled = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    core = make_core(
        runner=runner,
        tokenizer=DummyTokenizer(VOCAB_SIZE, frozenset()),
        info=make_info(256, 64),
        block_size=4,
        max_num_seqs=4,
    )

    assert serve(core, make_requests()) == serve(make_torch_core(name), make_requests())
    assert num_compiled > 0
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] - num_compiled <= 4
