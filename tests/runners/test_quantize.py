"""Weights in 8 bits, where torchao is installed, and a clear word where it is not."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest
import torch

from engine.config import ConfigError
from engine.request import Request, SamplingParams
from engine.runners.loading import extras
from engine.runners.loading.quantize import check_method, quantize
from tests.runners.builders import make_model, make_model_core, make_prompt, serve

needs_torchao = pytest.mark.skipif(
    not importlib.util.find_spec("torchao"), reason="torchao is not installed"
)
BUILD = """
from engine.assembly import ModelSpec, build_core
from engine.clock import VirtualClock
from engine.log import EventLog
from engine.settings import EngineSettings

spec = ModelSpec(device="cpu", quantization="int8")
core = build_core(spec, EngineSettings(num_kv_blocks=4), VirtualClock(), EventLog())
print(core.info.precision)
"""


def test_an_unknown_method_is_refused_with_a_known_one():
    with pytest.raises(ConfigError, match="unknown quantization 'int4'; did you mean 'int8'"):
        check_method("int4")


def test_without_torchao_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)

    with pytest.raises(ConfigError, match=r'needs torchao: pip install -e "\.\[int8\]"'):
        check_method("int8")


def test_none_leaves_the_model_alone():
    model = make_model("llama")
    weight = model.model.layers[0].self_attn.q_proj.weight

    quantize(model, "none")

    assert model.model.layers[0].self_attn.q_proj.weight is weight


@pytest.mark.filterwarnings("ignore")  # of torchao's own
@needs_torchao
def test_a_model_in_8_bits_serves_with_logits_near_its_own():
    tokens, model = torch.tensor([make_prompt(12)]), make_model("llama")
    with torch.inference_mode():
        exact = model(tokens).logits
        quantize(model, "int8")
        near = model(tokens).logits

    assert type(model.model.layers[0].mlp.up_proj.weight) is not torch.nn.Parameter
    assert type(model.lm_head.weight) is torch.nn.Parameter
    assert 0 < (near - exact).abs().max() < 0.1 * exact.abs().max()
    outputs = serve(make_model_core(model), [Request("r", (1, 2), SamplingParams(max_tokens=5))])
    assert len(outputs["r"]) == 5


@pytest.mark.slow
@needs_torchao
def test_nothing_is_said_to_the_terminal_while_it_is_imported():
    done = subprocess.run(
        [sys.executable, "-c", BUILD], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("int8 float32\n", "")
