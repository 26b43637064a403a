"""Why a request waits, for each reason that a batcher can have."""

from __future__ import annotations

import pytest

from engine.request import Request, SamplingParams
from engine.settings import BatcherName, OnFull
from tests.tui.stage import StageBackend
from tuiapp.explain import explain_wait, name_reason, why_waiting
from tuiapp.view.viewmodel import ViewModel

STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 4}
DYNAMIC = {"batcher": BatcherName.DYNAMIC, "max_batch_size": 4}
WHOLE = {"enable_chunked_prefill": False, "max_num_batched_tokens": 100}


def after(lengths, num_passes, **knobs):
    """The frame after some passes over requests of (prompt, output) lengths."""
    backend = StageBackend(**knobs)
    for number, (prompt, output) in enumerate(lengths):
        backend.submit(Request(f"r{number}", (1,) * prompt, SamplingParams(max_tokens=output)))
    backend.core.step()
    backend.run(num_passes - 1)
    return ViewModel(backend.log).poll(backend.now())


@pytest.mark.parametrize(
    ("lengths", "num_passes", "knobs", "waiting", "told", "named"),
    [
        (
            [(8, 9), (8, 5), (8, 5)],
            3,
            {"max_num_seqs": 2},
            "r2",
            "no slot is free (2 of 2 are taken; r1 is nearest its end: 2 tokens at most)",
            "no free slot",
        ),
        (
            [(8, 9), (8, 5), (8, 5), (8, 5), (8, 5)],
            3,
            {"max_num_seqs": 2},
            "r4",
            "2 are ahead of it; for r2 no slot is free (2 of 2 are taken; r1 is nearest its end: 2 "
            "tokens at most)",
            "no free slot",
        ),
        (
            [(80, 9), (90, 9)],
            1,
            WHOLE,
            "r1",
            "20 of the 100 tokens of a pass were left, and it has 90 to compute",
            "token budget spent",
        ),
        (
            [(60, 30), (120, 30)],
            2,
            {"num_kv_blocks": 10, "long_prefill_token_threshold": 0},
            "r1",
            "8 KV blocks are needed, 6 of 10 were free",
            "needs 8 blocks, 6 free",
        ),
        (
            [(8, 9), (8, 5), (8, 5), (8, 30), (8, 5)],
            7,
            STATIC,
            "r4",
            "the batch takes nobody in until all of it is done (4 of 4 are taken; r3 has up to 23 "
            "tokens to go)",
            "the batch is closed",
        ),
        (
            [(8, 9), (8, 5)],
            1,
            STATIC,
            "r0",
            "2 of 4 requests are here, and a static batch starts when it is full",
            "waits for company",
        ),
        (
            [(8, 9), (8, 5)],
            1,
            DYNAMIC,
            "r1",
            "1 is ahead of it; for r0 2 of 4 requests are here, and the "
            "batch starts when it is full, or in 50 ms at the latest",
            "waits for company",
        ),
        (
            [(40, 30), (40, 30)],
            2,
            {"num_kv_blocks": 8, "on_full": OnFull.NO_EVICT},
            "r1",
            "5 KV blocks are needed, 3 of 8 were free beside what those who run may still need",
            "needs 5 blocks, 3 free",
        ),
        (
            [(40, 30), (40, 30)],
            2,
            {"num_kv_blocks": 6, "watermark": 0.2},
            "r1",
            "3 KV blocks are needed, 1 of 6 was free beside the watermark of 20%",
            "needs 3 blocks, 1 free",
        ),
        (
            [(300, 9), (300, 9)],
            2,
            {"max_long_partial_prefills": 1},
            "r1",
            "1 long prompt at most may be computed at once",
            "another long prompt runs",
        ),
        (
            [(8, 9), (8, 9), (8, 9), (8, 9), (8, 9)],
            2,
            {"waiting_served_ratio": 0.5, "max_num_batched_tokens": 32, "max_num_seqs": 8},
            "r4",
            "decodes are interrupted once 2 requests wait, of which 1 are here, or after 20 passes",
            "too few wait to interrupt",
        ),
    ],
)
def test_the_reason_is_told_with_its_numbers(lengths, num_passes, knobs, waiting, told, named):
    snapshot = after(lengths, num_passes, **knobs)
    assert explain_wait(why_waiting(snapshot, waiting), snapshot) == told
    assert name_reason(snapshot.skipped[0]) == named


def test_who_came_after_the_last_pass_was_planned_has_not_been_looked_at():
    backend = StageBackend()
    backend.submit(Request("r0", (1,) * 8, SamplingParams()))
    snapshot = ViewModel(backend.log).poll(backend.now())
    wait = why_waiting(snapshot, "r0")
    assert explain_wait(wait, snapshot) == "no pass was planned since it came, the next one decides"


def test_whoever_waits_has_a_reason_however_long_the_queue():
    snapshot = after([(8, 30)] * 200, 3, max_num_seqs=2)
    assert len(snapshot.waiting) == 64
    assert len(snapshot.line) == snapshot.meters.num_waiting == 198
    wait = why_waiting(snapshot, "r150")
    assert explain_wait(wait, snapshot).startswith(
        "148 are ahead of it; for r2 no slot is free (2 of 2 are taken; "
    )
    assert all(why_waiting(snapshot, f"r{number}") for number in range(2, 200))


def test_who_does_not_wait_has_no_reason():
    assert why_waiting(after([(8, 9)], 1), "r0") is None
