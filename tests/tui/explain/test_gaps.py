"""The worst gap between tokens, and who is to blame for it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine.clock import VirtualClock
from engine.cost import Linear
from engine.events import Arrived
from engine.request import Request, SamplingParams
from engine.run import run
from engine.runners.sim import SimRunner
from engine.tokenizer import ToyTokenizer
from engine.workload import Listed
from tests.builders import ask, make_core
from tests.tui.explain.observed import lives_of
from tuiapp.explain import LifeReader, explain_gap
from tuiapp.explain.gaps import Gap


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
        assert worst.prefills[0] == ("bomb", len(planted.prompt_token_ids))
        told = explain_gap(worst)
        took = f"{worst.longest_seconds * 1000:.0f} ms"
        assert told.startswith(f"Pass {worst.longest} took {took} (a usual gap: ")
        assert f"it carried {len(planted.prompt_token_ids)} prefill tokens of bomb" in told


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
            {"prefills": (("r31", 512), ("r32", 40), ("r33", 8))},
            "Pass 214 took 96 ms (a usual gap: 9.0 ms): it carried 512 prefill tokens of r31 and "
            "48 of 2 others.",
        ),
        ({}, "Pass 214 took 96 ms (a usual gap: 9.0 ms), with 8 requests decoding and no prompt."),
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
            {"longest_seconds": 0.02, "num_passes": 6, "num_idle": 5},
            "It was given no token in 5 passes (a usual gap: 9.0 ms).",
        ),
        (
            {"longest_seconds": 0.02, "num_passes": 6},
            "It took 6 passes (a usual gap: 9.0 ms), none of them long.",
        ),
    ],
)
def test_each_kind_of_culprit_has_its_words(changes, told):
    gap = Gap(
        seconds=0.097,
        usual=0.009,
        num_passes=1,
        longest=214,
        longest_seconds=0.096,
        prefills=(),
        num_decodes=8,
    )
    assert explain_gap(replace(gap, **changes)) == told


def test_a_life_without_two_deliveries_has_no_gap():
    core = make_core(ask("a", 4, max_tokens=1))
    core.step()
    assert isinstance(core.log.since(0)[0][2], Arrived)
    assert LifeReader(core.log, "a").read(1.0).worst is None
