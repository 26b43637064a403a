"""Which models are served, exactly, and which are refused, by name and with the reason."""

from __future__ import annotations

import re

import pytest
import torch

from engine.config import ConfigError
from engine.plan import Plan, Row
from engine.request import Sequence
from engine.runners.loading.support import UnsupportedModelError, adopt
from engine.runners.torch_runner import TorchRunner
from tests.runners.builders import begin, generate, make_model, make_prompt, make_runner
from tests.runners.families import REFUSED, SERVED, make_family

CHUNK = 7


def advance(runner: TorchRunner, seqs: list[Sequence]) -> None:
    """Run one pass over every sequence, and apply it."""
    rows = [Row(seq, min(CHUNK, seq.num_uncomputed)) for seq in seqs]
    sampling = [row.seq for row in rows if row.samples]
    tokens = runner.launch(Plan(tuple(rows))).result()
    for row in rows:
        row.seq.num_computed += row.num_tokens
    for seq, token in zip(sampling, tokens, strict=True):
        seq.token_ids.append(token)


@pytest.mark.parametrize("family", SERVED)
def test_a_mixed_batch_in_chunks_equals_generate(family):
    reference, runner = make_family(*SERVED[family]), make_runner(make_family(*SERVED[family]))
    seqs = [begin(make_prompt(3)), begin(make_prompt(20), first_block=16)]

    for _ in range(8):
        advance(runner, seqs)

    for seq in seqs:
        prompt, output = seq.request.prompt_token_ids, seq.token_ids[seq.num_prompt_tokens :]
        assert len(output) >= 6
        assert output == generate(reference, prompt, len(output))


@pytest.mark.parametrize("family", REFUSED)
def test_a_model_that_cannot_be_served_is_refused_with_the_reason(family):
    model_type, shape, reason = REFUSED[family]

    with pytest.raises(UnsupportedModelError, match=re.escape(reason)):
        adopt(make_family(model_type, shape))


class InDouble(torch.nn.Module):
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden.double()


def test_a_model_that_attends_in_two_precisions_at_once_is_refused():
    model = make_model("llama")
    attention = model.model.layers[0].self_attn
    attention.q_proj = torch.nn.Sequential(attention.q_proj, InDouble())

    with pytest.raises(ConfigError, match=r"layer 0 attends in torch\.float32 and torch\.float64"):
        adopt(model)


def test_a_model_whose_first_token_fails_is_refused():
    model = make_model("llama")
    model.lm_head = torch.nn.Linear(7, 7)

    with pytest.raises(ConfigError, match="LlamaForCausalLM is not supported: one token failed"):
        adopt(model)
