"""What the inject form says beforehand, held against what then happens."""

from __future__ import annotations

import pytest

from engine.request import Request, SamplingParams
from engine.settings import BatcherName, KvPolicy
from tests.tui.stage import StageBackend
from tuiapp.screens.live_keys import USUAL_KEYS
from tuiapp.view.forecast import forecast
from tuiapp.view.viewmodel import ViewModel


def told(prompt=64, output=48, count=1, *, running=0, **knobs):
    backend = StageBackend(**knobs)
    for number in range(running):
        backend.submit(Request(f"r{number}", (1,) * 16, SamplingParams(max_tokens=90)))
    backend.run(2)
    return forecast(ViewModel(backend.log).poll(backend.now()), USUAL_KEYS, prompt, output, count)


def test_chunks_and_passes_are_counted():
    assert told(320).prompt_note == "5 chunks of at most 64"
    assert told(64).prompt_note == "in one pass"
    assert told(320, enable_chunked_prefill=False).prompt_note == "in one pass"
    assert told(output=1).output_note == "1 pass"
    assert told(output=48).output_note == "48 passes"


@pytest.mark.parametrize(
    ("wish", "knobs", "sentence"),
    [
        ({}, {}, "Needs 7 KV blocks in the end; 256 are free. It starts on the next pass."),
        (
            {"count": 3},
            {},
            "Needs 21 KV blocks in the end; 256 are free. All start on the next pass.",
        ),
        (
            {"count": 3},
            {"running": 6},
            "Needs 21 KV blocks in the end; 244 are free. 2 of 3 start on the next pass; the "
            "others wait for a slot.",
        ),
        (
            {},
            {"running": 10},
            "Needs 7 KV blocks in the end; 240 are free. It waits for a slot behind 2 others.",
        ),
        ({"prompt": 5000}, {}, "Will be refused: 5048 tokens exceed the context of 4096."),
        (
            {"prompt": 5000},
            {"max_model_len": 9000},
            "Will be refused: 5048 tokens exceed the context of 4096.",
        ),
        (
            {"prompt": 400},
            {"num_kv_blocks": 20},
            "Will be refused: 28 KV blocks each; the cache has 20.",
        ),
        (
            {},
            {"kv_policy": KvPolicy.RESERVE, "reserve_tokens": 1024},
            "Needs 64 KV blocks in the end; 256 are free. It starts on the next pass.",
        ),
        (
            {"count": 3},
            {"batcher": BatcherName.STATIC},
            "Needs 21 KV blocks in the end; 256 are free. 5 short of a batch of 8: they wait, or "
            "g starts it.",
        ),
        (
            {"count": 8},
            {"batcher": BatcherName.STATIC},
            "Needs 56 KV blocks in the end; 256 are free. They fill a batch, which starts on the "
            "next pass.",
        ),
        (
            {},
            {"batcher": BatcherName.DYNAMIC},
            "Needs 7 KV blocks in the end; 256 are free. They wait 50 ms for company at most.",
        ),
        (
            {},
            {"batcher": BatcherName.STATIC, "running": 8},
            "Needs 7 KV blocks in the end; 240 are free. A batch runs: they wait until all of it "
            "is done.",
        ),
    ],
)
def test_the_sentence_says_what_it_costs_and_whether_it_waits(wish, knobs, sentence):
    assert told(**wish, **knobs).sentence == sentence


@pytest.mark.parametrize(("prompt", "output"), [(4050, 47), (300, 48)])
def test_what_is_called_refused_is_refused_and_nothing_else(prompt, output):
    backend = StageBackend(num_kv_blocks=21)
    viewmodel = ViewModel(backend.log)
    sentence = forecast(viewmodel.poll(0.0), USUAL_KEYS, prompt, output, 1).sentence
    backend.submit(Request("r0", (1,) * prompt, SamplingParams(max_tokens=output)))
    is_refused = viewmodel.poll(0.0).num_notices == 1
    assert sentence.startswith("Will be refused") == is_refused
