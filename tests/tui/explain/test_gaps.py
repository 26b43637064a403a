"""The worst gap between tokens, and who is to blame for it."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from engine.clock import VirtualClock
from engine.cost import Linear
from engine.events import Arrived, Delivered, Step, Work
from engine.plan import SkipReason
from engine.request import Request, SamplingParams
from engine.run import run
from engine.runners.sim import SimRunner
from engine.settings import BatcherName, Delivery, PassOrder
from engine.tokenizer import ToyTokenizer
from engine.workload import Listed
from tests.builders import ask, make_core
from tests.tui.explain.observed import lives_of
from tuiapp.explain import Gap, LifeReader, explain_gap, tell_company
from tuiapp.explain.export import to_json
from tuiapp.explain.gaps import Share

SPIKE = Gap("mine", 0.097, 0.009, num_passes=1, longest=214, longest_seconds=0.096)
SPREAD = {"longest_seconds": 0.02, "num_passes": 6}


def prompts(**tokens):
    return tuple(Share(name, Work.PREFILL, count) for name, count in tokens.items())


def decodes(*names):
    return tuple(Share(name, Work.DECODE, 1) for name in names)


def costed_core(**knobs):
    clock, tokenizer = VirtualClock(), ToyTokenizer()
    runner = SimRunner(clock, Linear(), tokenizer.vocab_size)
    return make_core(clock=clock, tokenizer=tokenizer, runner=runner, **knobs)


def request(name, prompt, output, arrival):
    return Request(name, (1,) * prompt, SamplingParams(max_tokens=output), arrival)


@pytest.mark.parametrize("seed", range(100))
def test_the_culprit_of_a_planted_spike_is_named(seed):
    rng = random.Random(seed)
    streams = [request(f"s{n}", rng.randint(1, 90), 200, 0.0) for n in range(rng.randint(1, 6))]
    small = [
        request(f"x{n}", rng.randint(1, 60), rng.randint(1, 20), rng.uniform(0.2, 2.0))
        for n in range(rng.randint(0, 8))
    ]
    planted = request("bomb", rng.randint(1500, 3500), 4, rng.uniform(0.3, 1.6))
    core = costed_core(max_num_seqs=16, enable_chunked_prefill=False, max_num_batched_tokens=4096)
    run(core, Listed([*streams, *small, planted]))
    lives = lives_of(core.log.since(0)[0], core.clock.now())
    for stream in streams:
        worst = lives[stream.id].worst
        assert worst.longest == lives["bomb"].first_pass
        assert worst.carried[0] == Share("bomb", Work.PREFILL, len(planted.prompt_token_ids))
        told = explain_gap(worst)
        took = f"{worst.longest_seconds * 1000:.0f} ms"
        assert told.startswith(f"Pass {worst.longest} took {took} (a usual gap: ")
        assert f"it carried {len(planted.prompt_token_ids)} prefill tokens of bomb" in told


@pytest.mark.parametrize("seed", range(40))
def test_the_culprit_of_a_spike_in_chunks_is_named_with_its_chunk(seed):
    rng = random.Random(seed)
    streams = [request(f"s{n}", rng.randint(1, 90), 200, 0.0) for n in range(rng.randint(1, 6))]
    planted = request("bomb", rng.randint(1500, 3500), 4, rng.uniform(0.3, 1.6))
    budget = rng.choice((256, 512, 1024))
    core = costed_core(max_num_seqs=16, max_num_batched_tokens=budget)
    run(core, Listed([*streams, planted]))
    lives = lives_of(core.log.since(0)[0], core.clock.now())
    chunk = budget - len(streams)
    for stream in streams:
        worst = lives[stream.id].worst
        assert worst.carried[0] == Share("bomb", Work.PREFILL, chunk)
        assert f"it carried {chunk} prefill tokens of bomb" in explain_gap(worst)


@pytest.mark.parametrize("batcher", [BatcherName.STATIC, BatcherName.DYNAMIC])
@pytest.mark.parametrize("seed", range(20))
def test_into_a_batch_that_runs_nobody_comes_and_no_gap_stands_out(seed, batcher):
    rng = random.Random(seed)
    streams = [request(f"s{n}", rng.randint(1, 90), 200, 0.0) for n in range(4)]
    planted = request("bomb", rng.randint(1500, 3500), 4, rng.uniform(0.3, 1.6))
    core = costed_core(batcher=batcher, max_batch_size=4, deliver=Delivery.STREAM)
    run(core, Listed([*streams, planted]))
    lives = lives_of(core.log.since(0)[0], core.clock.now())
    assert lives["bomb"].first_pass > max(lives[each.id].worst.longest for each in streams)
    for stream in streams:
        assert explain_gap(lives[stream.id].worst).startswith("No gap stands out: ")


@pytest.mark.parametrize("batcher", list(BatcherName))
@pytest.mark.parametrize("seed", range(20))
def test_a_stall_of_the_engine_is_blamed_on_no_request(seed, batcher):
    rng = random.Random(seed)
    streams = [request(f"s{n}", rng.randint(1, 90), 200, 0.0) for n in range(4)]
    core = costed_core(batcher=batcher, max_batch_size=4, deliver=Delivery.STREAM)
    for stream in streams:
        core.add(stream)
    stall, at = rng.uniform(0.2, 0.9), rng.randint(20, 150)
    for number in range(190):
        if number == at:
            core.clock.sleep(stall)
        core.step()
    lives = lives_of(core.log.since(0)[0], core.clock.now())
    for stream in streams:
        told = explain_gap(lives[stream.id].worst)
        assert told.startswith(f"For {stall * 1000:.0f} ms of ")
        assert " no pass ran at all" in told


@pytest.mark.parametrize("seed", range(40))
def test_an_eviction_is_blamed_for_the_gap_that_it_makes(seed):
    rng = random.Random(seed)
    streams = [request(f"s{n}", rng.randint(20, 90), 200, 0.0) for n in range(rng.randint(4, 8))]
    planted = request("bomb", rng.randint(300, 600), 4, rng.uniform(0.3, 1.6))
    core = costed_core(max_num_seqs=16, num_kv_blocks=48)
    run(core, Listed([*streams, planted]))
    events = core.log.since(0)[0]
    lives = lives_of(events, core.clock.now())
    evicted = 0
    for stream in streams:
        times = [e.time for e in events if isinstance(e, Delivered) and e.request_id == stream.id]
        begin, end = max(pairwise(times), key=lambda pair: pair[1] - pair[0])
        passes = [
            event.index + 1
            for event in events
            if isinstance(event, Step) and begin < event.time <= end
            if any(lost.request_id == stream.id for lost in event.preempted)
        ]
        if passes:
            evicted += 1
            worst = lives[stream.id].worst
            assert (worst.evicted_in, worst.num_evictions) == (passes[0], len(passes))
            often = f"{len(passes)} times, first " if len(passes) > 1 else ""
            told = f"It was evicted {often}before pass {passes[0]}, and its next token took "
            assert explain_gap(worst).startswith(told)
    assert evicted


def test_a_gap_is_as_long_as_its_passes():
    core = make_core(ask("a", 4, max_tokens=4), cost=0.25)
    for _ in range(4):
        core.step()
    life = LifeReader(core.log, "a").read(1.0)
    assert life.gaps == (0.25, 0.25, 0.25)
    assert explain_gap(life.worst) == "No gap stands out: the longest was 250 ms, the usual 250 ms."


def test_time_between_passes_is_blamed_on_no_pass():
    core = make_core(ask("a", 4, max_tokens=6), cost=0.01)
    for _ in range(4):
        core.step()
    core.clock.sleep(0.5)
    core.step()
    worst = LifeReader(core.log, "a").read(1.0).worst
    assert explain_gap(worst) == ("For 500 ms of 510 ms no pass ran at all (a usual gap: 10 ms).")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"carried": (*prompts(r31=512, r32=40, r33=8), *decodes("r1"))},
            "Pass 214 took 96 ms (a usual gap: 9.0 ms): it carried 512 prefill tokens of r31, 40 "
            "of r32 and 8 of r33.",
        ),
        (
            {"carried": prompts(r31=512, r32=40, r33=8, r34=8, r35=7)},
            "Pass 214 took 96 ms (a usual gap: 9.0 ms): it carried 512 prefill tokens of r31, 40 "
            "of r32, 8 of r33 and 15 of 2 others.",
        ),
        (
            {"carried": decodes(*"abcdefgh")},
            "Pass 214 took 96 ms (a usual gap: 9.0 ms), with 8 requests decoding and no prompt.",
        ),
        (
            {"evicted_in": 200, "num_evictions": 1, "num_passes": 15, "num_lost": 1},
            "It was evicted before pass 200, and its next token took 15 passes; 1 token had to be "
            "computed again.",
        ),
        (
            {"evicted_in": 200, "num_evictions": 3, "num_passes": 15, "num_lost": 90},
            "It was evicted 3 times, first before pass 200, and its next token took 15 passes; "
            "90 tokens had to be computed again.",
        ),
        (
            {
                "evicted_in": 200,
                "num_evictions": 1,
                "num_passes": 15,
                "num_lost": 2,
                "waits": ((SkipReason.BLOCKS, 7), (SkipReason.SLOTS, 1)),
            },
            "It was evicted before pass 200, and its next token took 15 passes; 2 tokens had to be "
            "computed again; what kept it out: too few KV blocks (7 passes), no free slot (1 "
            "pass).",
        ),
        (
            SPREAD | {"num_idle": 5, "served": prompts(r5=480, r6=96)},
            "It was given no token in 5 passes (a usual gap: 9.0 ms): prompts alone were computed, "
            "480 prefill tokens of r5 and 96 of r6.",
        ),
        (
            SPREAD | {"num_idle": 5, "served": (*prompts(r5=480), *decodes("a", "b"))},
            "It was given no token in 5 passes (a usual gap: 9.0 ms): they went to 480 prefill "
            "tokens of r5, and 2 tokens of other decodes.",
        ),
        (
            SPREAD | {"num_idle": 5, "served": decodes("a", "b")},
            "It was given no token in 5 passes (a usual gap: 9.0 ms): they made 2 tokens of other "
            "decodes.",
        ),
        (
            SPREAD,
            "It took 6 passes (a usual gap: 9.0 ms), none of them long.",
        ),
    ],
)
def test_each_kind_of_culprit_has_its_words(changes, told):
    assert explain_gap(replace(SPIKE, **changes)) == told


def test_everybody_in_the_longest_pass_is_named_with_their_tokens():
    carried = (*prompts(r31=512, r32=40), *decodes("r1", "mine", "r2"))
    gap = replace(SPIKE, carried=carried, num_padded=9)
    assert tell_company(gap) == (
        "pass 214",
        "prefill 512 of r31 (92% of 555 tokens), 40 of r32 (7%) · decode 1 each of r1, mine, r2; "
        "9 positions padded",
    )
    assert tell_company(replace(SPIKE, carried=decodes("mine")))[1] == "decode 1 of mine"
    served = (Share("r1", Work.DECODE, 9), Share("r2", Work.DECODE, 2))
    assert tell_company(replace(SPIKE, **SPREAD, served=served))[1] == "decode 9 of r1, 2 of r2"


def test_of_passes_that_gave_nothing_everybody_who_was_served_is_named():
    gap = replace(SPIKE, **SPREAD, num_idle=5, served=(*prompts(r5=480), *decodes("a", "b")))
    assert tell_company(gap) == (
        "meanwhile",
        "prefill 480 of r5 (>99% of 482 tokens) · decode 1 each of a, b",
    )


def test_a_request_that_prompts_pass_over_is_told_of_them():
    knobs = {"max_num_batched_tokens": 32, "max_num_seqs": 4}
    core = costed_core(pass_order=PassOrder.PREFILL_FIRST, **knobs)
    run(core, Listed([request("a", 8, 20, 0.0), request("b", 300, 2, 0.05)]))
    worst = lives_of(core.log.since(0)[0], core.clock.now())["a"].worst
    told = explain_gap(worst)
    assert told.startswith(f"It was given no token in {worst.num_idle} passes (a usual gap: ")
    assert "prompts alone were computed, 288 prefill tokens of b." in told
    assert tell_company(worst) == ("meanwhile", "prefill 288 of b (100% of 288 tokens)")


def test_the_five_longest_gaps_are_kept_the_longest_first():
    core = make_core(ask("a", 4, max_tokens=12), cost=0.01)
    for sleep in (0, 0, 3, 1, 5, 2, 4, 6):
        core.clock.sleep(sleep)
        core.step()
    life = LifeReader(core.log, "a").read(core.clock.now())
    assert [round(gap.seconds) for gap in life.worst_gaps] == [6, 5, 4, 3, 2]
    assert life.worst is life.worst_gaps[0]
    assert all(gap.usual == pytest.approx(3.01) for gap in life.worst_gaps)


def test_a_life_is_exported_with_everybody_who_was_served_in_its_gaps():
    core = make_core(ask("a", 4, max_tokens=6), ask("b", 9, max_tokens=6))
    for _ in range(3):
        core.step()
    saved = json.loads(json.dumps(to_json(LifeReader(core.log, "a").read(3.0))))
    assert [gap["longest"] for gap in saved["worst_gaps"]] == [2, 3]
    assert saved["worst_gaps"][0]["carried"] == [
        {"request_id": "a", "work": "decode", "num_tokens": 1},
        {"request_id": "b", "work": "decode", "num_tokens": 1},
    ]


def test_a_life_without_two_deliveries_has_no_gap():
    core = make_core(ask("a", 4, max_tokens=1))
    core.step()
    assert isinstance(core.log.since(0)[0][2], Arrived)
    assert LifeReader(core.log, "a").read(1.0).worst is None
