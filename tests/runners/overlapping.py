"""Driving a runner by hand, with a pass under way while the next one is launched."""

from __future__ import annotations

from typing import Any

import torch

from engine.plan import Launch, Plan, Row
from engine.request import PENDING, Request, SamplingParams, Sequence
from engine.runners.capture import Capture
from engine.runners.torch_runner import TorchRunner
from tests.runners.builders import begin, make_model, make_prompt, make_runner

LENGTHS = (9, 3, 20)
CPU = torch.device("cpu")


def make_seqs(**sampling: Any) -> list[Sequence]:
    seqs = [begin(make_prompt(length), 16 * at) for at, length in enumerate(LENGTHS)]
    for seq in seqs:
        prompt = seq.request.prompt_token_ids
        seq.request = Request(seq.id, prompt, SamplingParams(**sampling))
    return seqs


def step(
    runner: TorchRunner, seqs: list[Sequence], most: int = 99
) -> tuple[Launch, list[Sequence]]:
    """Launch what is left of each sequence and assume that it went well."""
    plan = Plan(tuple(Row(seq, min(most, seq.num_uncomputed)) for seq in seqs))
    sampling = [row.seq for row in plan.rows if row.samples]
    launch = runner.launch(plan)
    for row in plan.rows:
        row.seq.num_computed += row.num_tokens
    for seq in sampling:
        seq.token_ids.append(PENDING)
    return launch, sampling


def settle(launch: Launch, sampling: list[Sequence]) -> None:
    for seq, token_id in zip(sampling, launch.result(), strict=True):
        seq.token_ids[seq.token_ids.index(PENDING)] = token_id


def decode(
    seqs: list[Sequence],
    *,
    is_overlapping: bool,
    most: int = 99,
    capture: Capture | None = None,
    device: torch.device = CPU,
) -> list[list[int]]:
    """Decode ten tokens each, launching a pass before the last result was taken, or after."""
    runner = make_runner(make_model("llama").to(device), capture=capture)
    last = step(runner, seqs, most)
    for _ in range(9):
        if is_overlapping:
            following = step(runner, seqs, most)
            settle(*last)
        else:
            settle(*last)
            following = step(runner, seqs, most)
        last = following
    settle(*last)
    return [seq.token_ids for seq in seqs]
