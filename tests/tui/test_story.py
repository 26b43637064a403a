"""The one sentence, for each thing that can be seen."""

from __future__ import annotations

import pytest

from engine.loading import LoadStage, LoadStep
from engine.request import Request, SamplingParams
from engine.settings import BatcherName
from tests.tui.stage import StageBackend
from tuiapp.screens.live_keys import USUAL_KEYS
from tuiapp.view.snapshot import Meters, Snapshot
from tuiapp.view.tell import tell, tell_loading
from tuiapp.view.viewmodel import ViewModel


def story(lengths, num_passes, *, is_paused=False, **knobs):
    """What is told after some passes over requests of (prompt, output) lengths."""
    backend = StageBackend(**knobs)
    for number, (prompt, output) in enumerate(lengths):
        backend.submit(Request(f"r{number}", (1,) * prompt, SamplingParams(max_tokens=output)))
    backend.run(num_passes)
    return str(tell(ViewModel(backend.log).poll(backend.now()), USUAL_KEYS, is_paused=is_paused))


STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 4}
DYNAMIC = {"batcher": BatcherName.DYNAMIC, "max_batch_size": 4}


@pytest.mark.parametrize(
    ("lengths", "num_passes", "knobs", "told"),
    [
        (
            [(8, 2), (8, 2), (8, 2), (8, 30), (8, 9)],
            5,
            STATIC,
            "3 of 4 slots are held but idle until r3 has made up to 25 more tokens; 1 request "
            "waits. Press 3 to refill them.",
        ),
        (
            [(8, 2), (8, 2), (8, 30), (8, 30)],
            5,
            DYNAMIC,
            "2 of 4 slots are held but idle until r2 has made up to 25 more tokens. "
            "Press 3 to refill them.",
        ),
        (
            [(8, 2)] * 3,
            1,
            STATIC,
            "3 of 4 requests are here: a static batch waits until it is full. g starts it now; "
            "press 3 and nobody waits.",
        ),
        (
            [(10, 5), (40, 5), (20, 5), (10, 5)],
            1,
            STATIC,
            "A new batch: every prompt is padded to r1's prompt of 40 tokens; 50% of this pass is "
            "padding.",
        ),
        (
            [(8, 50), (8, 50), (400, 5)],
            5,
            {},
            "r2's prompt of 400 tokens comes in chunks: 320 are in beside 2 decoding requests, so "
            "nobody's stream stops for it.",
        ),
        (
            [(8, 50), (8, 50), (400, 5)],
            7,
            {},
            "3 requests decode together: one pass gives each of them one token.",
        ),
        (
            [(8, 2)] * 11,
            2,
            STATIC,
            "The batch is done; the next come, up to 4 of 7 waiting.",
        ),
        (
            [(8, 2)] * 5,
            2,
            DYNAMIC,
            "The batch is done; 1 request waits for the next.",
        ),
        ([(8, 2)] * 3, 0, {}, "3 requests wait: the next pass takes in as many as it can."),
        (
            [(8, 9)] * 3,
            4,
            {},
            "3 requests decode together: one pass gives each of them one token.",
        ),
        (
            [(8, 9)],
            4,
            {},
            "One request decodes alone: every pass reads all the weights for a single token. "
            "b sends company.",
        ),
        (
            [(8, 9)] * 10,
            4,
            {},
            "8 requests decode together; 2 requests wait for a slot.",
        ),
        ([], 0, {}, "Nothing to do: b sends a burst, i one request, w plays a workload."),
    ],
)  # fmt: skip
def test_a_story_names_what_is_seen(lengths, num_passes, knobs, told):
    assert story(lengths, num_passes, **knobs) == told


def test_a_dynamic_batch_says_when_it_starts_at_the_latest():
    backend = StageBackend(**DYNAMIC)
    backend.submit(Request("r0", (1,) * 8, SamplingParams()))
    backend.core.step()
    told = tell(ViewModel(backend.log).poll(0.02), USUAL_KEYS)
    assert str(told) == (
        "1 of 4 requests is here: the batch starts when it is full, or in 30 ms at the latest."
    )


def test_the_last_chunk_of_a_prompt_is_not_taken_for_the_whole_of_it():
    backend = StageBackend(long_prefill_token_threshold=2000, max_num_batched_tokens=4096)
    for number in range(3):
        backend.submit(Request(f"r{number}", (1,) * 8, SamplingParams(max_tokens=90)))
    backend.run(60)
    backend.submit(Request("long", (1,) * 3000, SamplingParams()))
    viewmodel = ViewModel(backend.log)
    told = []
    for _ in range(2):
        backend.run(1)
        told.append(str(tell(viewmodel.poll(backend.now()), USUAL_KEYS)))
    assert told[0].startswith("long's prompt of 3000 tokens comes in chunks: 2000 are in")
    assert told[1].startswith("4 requests decode together")


def test_a_batch_that_is_full_waits_for_nobody():
    backend = StageBackend(**STATIC)
    viewmodel = ViewModel(backend.log)
    for number in range(9):
        backend.submit(Request(f"r{number}", (1,) * 8, SamplingParams()))
        if number == 2:
            backend.core.step()
    told = str(tell(viewmodel.poll(backend.now()), USUAL_KEYS))
    assert told == "The batch is full; the next come, up to 4 of 9 waiting."
    chosen = str(tell(viewmodel.poll(backend.now()), USUAL_KEYS, selected="r0"))
    assert chosen == "r0 waits: the batch is full and starts with the next pass."


def test_nothing_is_to_do_only_when_nobody_waits_and_nobody_runs():
    for batcher in BatcherName:
        backend = StageBackend(batcher=batcher, max_batch_size=4)
        viewmodel = ViewModel(backend.log)
        for number in range(11):
            backend.submit(Request(f"r{number}", (1,) * 8, SamplingParams(max_tokens=2 + number)))
        while backend.run(1):
            told = str(tell(viewmodel.poll(backend.now()), USUAL_KEYS))
            assert told.startswith("Nothing to do") is not backend.core.has_work, told


def test_a_whole_prompt_is_blamed_for_the_streams_that_stood_still():
    lengths = [(8, 90)] * 3
    backend = StageBackend(enable_chunked_prefill=False)
    for number, (prompt, output) in enumerate(lengths):
        backend.submit(Request(f"r{number}", (1,) * prompt, SamplingParams(max_tokens=output)))
    backend.run(60)
    backend.submit(Request("long", (1,) * 3000, SamplingParams()))
    backend.run(1)
    told = str(tell(ViewModel(backend.log).poll(backend.now()), USUAL_KEYS))
    assert told == "long's prompt of 3000 tokens ran whole: 3 streams stood still for 72 ms."


def test_an_eviction_is_told_while_the_cache_is_full():
    told = story([(30, 90)] * 4, 60, num_kv_blocks=14)
    assert told.startswith(
        "r2 was evicted: the KV cache is full; its tokens will be computed again"
    )


def test_loading_and_pausing_are_told():
    step = LoadStep(LoadStage.WEIGHTS, 68, 272)
    assert str(tell_loading(step, 2.4, "tiny")) == (
        "Loading tiny: █████░░░░░░░░░░░░░░░ reading weights, 68 of 272 tensors · 2 s"
    )
    assert str(tell_loading(LoadStep(LoadStage.CACHE), 0.0)) == (
        "Loading the model: building the KV cache · 0 s"
    )
    assert story([], 0, is_paused=True) == "Paused: n runs one pass, space goes on."


def test_a_recording_without_work_sends_nobody_to_keys_that_do_nothing():
    assert str(tell(Snapshot(), USUAL_KEYS, is_replay=True)) == (
        "Nothing has arrived yet: the recording goes on to its first request."
    )
    idle = Snapshot(num_passes=7, meters=Meters(num_finished=2))
    assert str(tell(idle, USUAL_KEYS, is_replay=True)) == (
        "The engine was idle here: 2 requests had ended by then."
    )
