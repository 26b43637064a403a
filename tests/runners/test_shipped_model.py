"""The shipped model says the same under every batcher, greedily or by seeded chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from engine.assembly import build_core
from engine.clock import VirtualClock
from engine.core import EngineCore
from engine.events import Step
from engine.log import EventLog
from engine.request import Request, SamplingParams
from engine.runners.loading.sources import find_source
from engine.runners.parts import ModelSpec
from engine.settings import BatcherName, EngineSettings, Start
from tests.builders import events_of
from tests.runners.builders import generate, serve

PROMPTS = (
    "Tell me a story about a fox",
    "What is continuous batching?",
    "hi",
    "Write a long story about a robot and a cat",
    "Name three colours",
)
CHANCE = {"temperature": 0.8, "top_p": 0.95}
KNOBS: dict[str, dict[str, Any]] = {
    "continuous": {},
    "continuous in small chunks": {"long_prefill_token_threshold": 3},
    "continuous in a small cache": {"num_kv_blocks": 11},
    "planned ahead": {"async_scheduling": True},
    "planned ahead in a small cache": {"async_scheduling": True, "num_kv_blocks": 11},
    "static": {"batcher": BatcherName.STATIC, "max_batch_size": 3, "start": Start.IDLE},
    "dynamic": {"batcher": BatcherName.DYNAMIC, "max_batch_size": 4, "max_queue_delay_ms": 0.0},
}


def make_core(**knobs: Any) -> EngineCore:
    return build_core(ModelSpec(device="cpu"), EngineSettings(**knobs), VirtualClock(), EventLog())


def make_requests(core: EngineCore, **sampling: Any) -> list[Request]:
    return [
        Request(
            f"r{number}",
            tuple(core.tokenizer.encode_chat(prompt)),
            SamplingParams(max_tokens=50, **sampling),
        )
        for number, prompt in enumerate(PROMPTS)
    ]


@pytest.fixture(scope="module")
def expected() -> dict[str, list[int]]:
    source = find_source("tiny")
    model = AutoModelForCausalLM.from_pretrained(
        source.place, dtype=torch.float32, **source.options
    )
    return {r.id: generate(model, r.prompt_token_ids, 50) for r in make_requests(make_core())}


@pytest.mark.parametrize("knobs", KNOBS.values(), ids=KNOBS)
def test_greedy_tokens_equal_generate(expected, knobs):
    core = make_core(**knobs)

    assert serve(core, make_requests(core)) == expected


@pytest.fixture(scope="module")
def alone() -> dict[str, list[int]]:
    core = make_core(max_num_seqs=1)
    return serve(core, make_requests(core, **CHANCE))


@pytest.mark.parametrize("knobs", KNOBS.values(), ids=KNOBS)
def test_sampled_tokens_depend_on_neither_batcher_nor_company_nor_preemption(alone, knobs):
    core = make_core(**knobs)

    assert serve(core, make_requests(core, **CHANCE)) == alone


def test_the_small_cache_preempts():
    core = make_core(**KNOBS["continuous in a small cache"])

    serve(core, make_requests(core, **CHANCE))

    assert any(step.preempted for step in events_of(core.log, Step))


def test_another_seed_tells_another_story():
    core = make_core()
    story = make_requests(core)[0]
    requests = [
        replace(story, id=name, sampling=SamplingParams(temperature=0.8, seed=seed))
        for name, seed in (("first", 1), ("again", 1), ("other", 2))
    ]

    first, again, other = serve(core, requests).values()

    assert first == again
    assert first != other


def test_an_ignored_end_is_never_said():
    core = make_core()

    outputs = serve(core, make_requests(core, temperature=1.0, ignore_eos=True))

    assert [len(tokens) for tokens in outputs.values()] == [50] * 5
    assert not core.tokenizer.eos_token_ids & {token for t in outputs.values() for token in t}
