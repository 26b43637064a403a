from itertools import pairwise

import numpy as np
import pytest

from engine.generate.arrivals import At, AtOnce, Constant, Gamma, Poisson, Pulse, Ramp
from engine.generate.bounded import Bound
from engine.generate.demo import DemoMix
from engine.generate.draft import Draft
from engine.generate.lengths import (
    Around,
    Choice,
    Exponential,
    Fixed,
    Lognormal,
    Normal,
    Quantiles,
    Uniform,
    Zipf,
)
from engine.generate.streams import stream
from engine.generate.traffic import RequestClass, SingleRequest
from engine.generate.write import write
from engine.prompts import PromptMaker
from engine.request import Answer
from engine.tokenizer import ToyTokenizer

MANY = 4000
KINDS = [
    Fixed(value=7),
    Uniform(min=3, max=9),
    Around(mean=100, ratio=0.5),
    Normal(mean=50, stdev=10),
    Exponential(mean=64),
    Lognormal(median=100, sigma=0.8),
    Zipf(exponent=1.2, min=2, max=50),
    Choice(values=(5, 500), weights=(7, 1)),
    Quantiles(p=(0, 0.5, 1), v=(1, 10, 100)),
]


def draw(lengths, count=MANY):
    return lengths.draw(np.random.default_rng(1), count)


def times(arrival, count=None, until=None):
    return arrival.times(np.random.default_rng(1), count, until)


def chat_class(**changes):
    table = {
        "name": "chat",
        "arrival": Poisson(rate=2.0),
        "prompt": Exponential(mean=50),
        "output": Exponential(mean=20),
        "count": 4,
    }
    return RequestClass(**(table | changes))


@pytest.mark.parametrize("lengths", KINDS, ids=lambda lengths: lengths.kind)
def test_lengths_are_whole_tokens_as_many_as_asked_for_and_repeatable(lengths):
    drawn = draw(lengths)
    assert len(drawn) == MANY
    assert {type(length) for length in drawn} == {int}
    assert min(drawn) >= 1
    assert drawn == draw(lengths)


@pytest.mark.parametrize(
    ("lengths", "low", "mean", "high"),
    [
        (Fixed(value=7), 7, 7, 7),
        (Uniform(min=3, max=9), 3, 6, 9),
        (Around(mean=100, ratio=0.5), 50, 100, 150),
        (Normal(mean=50, stdev=10, min=20, max=80), 20, 50, 80),
        (Exponential(mean=64, max=512), 1, 64, 512),
        (Zipf(exponent=1.0, min=1, max=4), 1, 4 / (1 + 1 / 2 + 1 / 3 + 1 / 4), 4),
        (Choice(values=(5, 500), weights=(7, 1)), 5, (7 * 5 + 500) / 8, 500),
        (Quantiles(p=(0, 0.5, 1), v=(1, 10, 100)), 1, (5.5 + 55) / 2, 100),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_lengths_stay_in_bounds_around_their_mean(lengths, low, mean, high):
    drawn = draw(lengths)
    assert low <= min(drawn)
    assert max(drawn) <= high
    assert np.mean(drawn) == pytest.approx(mean, rel=0.06)


def test_half_of_lognormal_lengths_are_below_the_median():
    assert np.median(draw(Lognormal(median=100, sigma=0.8))) == pytest.approx(100, rel=0.06)


def test_clipping_piles_up_at_the_bound_and_resampling_does_not():
    clipped = draw(Exponential(mean=128, max=128))
    resampled = draw(Exponential(mean=128, max=128, bound=Bound.RESAMPLE))
    assert clipped.count(128) / MANY == pytest.approx(np.exp(-1), rel=0.06)
    assert resampled.count(128) / MANY < 0.01
    assert np.mean(resampled) == pytest.approx(54, rel=0.05)  # 128 x (1 - 1 / (e - 1))


def test_a_resampled_distribution_without_room_is_refused():
    with pytest.raises(ValueError, match="bound can find no length from 1 to 5 to draw"):
        draw(Normal(mean=1000, stdev=1, max=5, bound=Bound.RESAMPLE))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fixed(value=0), "value must be at least 1 token, got 0"),
        (lambda: Fixed(value=1, min=0), "min must be at least 1 token, got 0"),
        (lambda: Exponential(mean=9, min=5, max=4), r"max must be at least min \(5\), got 4"),
        (lambda: Exponential(mean=0), "mean must be above 0, got 0"),
        (lambda: Uniform(), "max is needed"),
        (lambda: Around(mean=10, ratio=1), "ratio must be at least 0 and below 1, got 1"),
        (lambda: Choice(values=()), "values must name at least one"),
        (lambda: Choice(values=(1, 2), weights=(1,)), r"weights must be as many as values \(2\)"),
        (lambda: Quantiles(p=(0, 0.5), v=(1, 2)), "p must begin with 0 and end with 1"),
        (lambda: Quantiles(p=(0, 1), v=(3, 2)), "v must rise"),
        (lambda: Poisson(rate=0), "rate must be above 0, got 0"),
        (lambda: Gamma(rate=1), "one of shape and cv must be given"),
        (lambda: Gamma(rate=1, cv=0), "cv must be above 0, got 0"),
        (lambda: AtOnce(at_s=-1), "at_s must be at least 0, got -1"),
        (lambda: At(times_s=(-1,)), "times_s must name moments"),
        (lambda: times(AtOnce(), until=3), "count is needed with arrivals of kind at_once"),
        (lambda: chat_class(count=None), "one of count and until_s must be given"),
        (lambda: chat_class(count=0), "count must be above 0, got 0"),
        (lambda: SingleRequest(label="x", output_tokens=1), "one of prompt and prompt_tokens"),
        (lambda: DemoMix(PromptMaker(ToyTokenizer()), rate=0), "rate must be above 0, got 0"),
    ],
)
def test_impossible_values_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("arrival", "count", "until", "expected"),
    [
        (AtOnce(at_s=0.5), 3, None, [0.5, 0.5, 0.5]),
        (Constant(rate=2), 3, None, [0.0, 0.5, 1.0]),
        (Constant(rate=2), None, 1.2, [0.0, 0.5, 1.0]),
        (Constant(rate=2, at_s=1), 9, 2.0, [1.0, 1.5, 2.0]),
        (Pulse(size=2, every_s=1.5, at_s=1), 5, None, [1.0, 1.0, 2.5, 2.5, 4.0]),
        (Pulse(size=2, every_s=1.5), None, 2.0, [0.0, 0.0, 1.5, 1.5]),
        (At(times_s=(3.0, 1.0)), None, None, [1.0, 3.0]),
        (At(times_s=(3.0, 1.0)), 1, None, [1.0]),
    ],
)
def test_regular_arrivals_come_when_they_should(arrival, count, until, expected):
    assert times(arrival, count, until) == expected


@pytest.mark.parametrize(
    ("arrival", "cv"),
    [(Poisson(rate=5), 1.0), (Gamma(rate=5, shape=4), 0.5), (Gamma(rate=5, cv=2), 2.0)],
)
def test_random_gaps_have_the_mean_and_the_roughness_asked_for(arrival, cv):
    moments = times(arrival, MANY)
    gaps = np.diff([0.0, *moments])
    assert gaps.mean() == pytest.approx(0.2, rel=0.1)
    assert gaps.std() / gaps.mean() == pytest.approx(cv, rel=0.08)


def test_random_arrivals_until_a_moment_stop_there():
    moments = times(Poisson(rate=5, at_s=10.0), until=200.0)
    assert len(moments) == pytest.approx(950, rel=0.1)
    assert moments[0] > 10.0
    assert 199.0 < moments[-1] <= 200.0


def test_rescaled_gaps_end_on_time():
    assert times(Gamma(rate=6, cv=4, rescale=True), 240)[-1] == pytest.approx(40.0)


@pytest.mark.parametrize("shape", ["linear", "exponential"])
def test_a_ramp_begins_slow_and_ends_fast(shape):
    moments = times(Ramp(rate_from=1, rate_to=16, shape=shape), MANY)
    gaps = [b - a for a, b in pairwise(moments)]
    assert np.mean(gaps[:100]) == pytest.approx(1.0, rel=0.3)
    assert np.mean(gaps[-100:]) == pytest.approx(1 / 16, rel=0.3)


def test_streams_differ_by_seed_name_and_purpose_and_never_by_process():
    first = [
        int(stream(*key).integers(1000))
        for key in [(1, "chat", "arrival"), (2, "chat", "arrival"), (1, "doc", "arrival")]
    ]
    assert first == [490, 35, 594]
    assert int(stream(1, "chat", "prompt").integers(1000)) == 410


def test_other_lengths_leave_the_arrivals_alone():
    before = [draft.arrival for draft in chat_class().drafts(seed=1)]
    after = [draft.arrival for draft in chat_class(output=Fixed(value=9)).drafts(seed=1)]
    assert before == after


def test_a_class_drafts_requests_in_order_of_arrival():
    drafts = chat_class(prompt=Fixed(value=8), output=Fixed(value=5)).drafts(seed=1)
    assert [(d.id, d.label, d.num_prompt_tokens, d.num_output_tokens) for d in drafts] == [
        ("chat-0", "chat", 8, 5),
        ("chat-1", "chat", 8, 5),
        ("chat-2", "chat", 8, 5),
        ("chat-3", "chat", 8, 5),
    ]
    assert [d.arrival for d in drafts] == sorted(d.arrival for d in drafts)


def test_a_single_request_keeps_its_words():
    single = SingleRequest(label="hello", prompt="the batch", output_tokens=3, at_s=2.0)
    (request,) = write([single.draft()], PromptMaker(ToyTokenizer()), seed=1)
    assert ToyTokenizer().decode(request.prompt_token_ids) == " the batch"
    assert (request.id, request.label, request.arrival) == ("hello", "hello", 2.0)
    assert request.sampling.max_tokens == 3


def test_written_requests_have_exact_lengths_and_seeds_of_their_own():
    drafts = [Draft("a", "x", 0.0, 40, 5), Draft("b", "x", 1.0, 30, 6)]
    one, two = write(drafts, PromptMaker(ToyTokenizer()), seed=1)
    assert (len(one.prompt_token_ids), one.sampling.max_tokens) == (40, 5)
    assert (len(two.prompt_token_ids), two.sampling.max_tokens) == (30, 6)
    assert one.sampling.ignore_eos
    assert (one.sampling.temperature, one.sampling.top_p) == (0.8, 0.95)
    assert one.sampling.seed != two.sampling.seed
    assert [one, two] == write(drafts, PromptMaker(ToyTokenizer()), seed=1)


def test_writing_one_label_leaves_another_alone():
    drafts = [Draft("a", "x", 0.0, 40, 5), Draft("b", "y", 1.0, 30, 6)]
    both = write(drafts, PromptMaker(ToyTokenizer()), seed=1)
    assert both[1:] == write(drafts[1:], PromptMaker(ToyTokenizer()), seed=1)


def test_the_demo_mix_never_ends_and_mixes_short_and_long():
    mix = DemoMix(PromptMaker(ToyTokenizer()), rate=2.0, seed=3)
    assert mix.next_time() == 0.0
    requests = mix.take(until=500.0)
    stories = [request for request in requests if request.label == "story"]
    assert len(requests) == pytest.approx(1000, rel=0.1)
    assert len(stories) / len(requests) == pytest.approx(0.2, abs=0.05)
    assert min(s.sampling.max_tokens for s in stories) > 130
    assert [request.id for request in requests[:3]] == ["r0", "r1", "r2"]
    assert not requests[0].sampling.ignore_eos
    assert mix.next_time() > 500.0


def test_the_demo_mix_waits_for_answers_where_too_many_are_open():
    mix = DemoMix(PromptMaker(ToyTokenizer()), rate=2.0, seed=3, most_open=4)
    first = mix.take(until=100.0)
    assert [request.id for request in first] == ["r0", "r1", "r2", "r3"]
    assert (mix.next_arrival(), mix.next_time(), mix.is_held) == (None, None, True)
    mix.answered(Answer("somebody else's", 1), 100.0)
    assert mix.take(until=100.0) == []
    mix.answered(Answer("r1", 1), 130.0)
    assert mix.next_time() == 130.0  # and not once for everybody who would have asked meanwhile
    assert [request.id for request in mix.take(until=130.0)] == ["r4"]
    for name in ("r0", "r2"):
        mix.answered(Answer(name, 1), 140.0)
    assert not mix.is_held
    mix.most_open = None
    assert len(mix.take(until=200.0)) > 100


def test_the_demo_mix_is_the_same_however_it_is_read():
    at_once, bit_by_bit = (DemoMix(PromptMaker(ToyTokenizer()), seed=3) for _ in range(2))
    pieces = [bit_by_bit.take(until) for until in (1.0, 1.0, 7.5, 20.0)]
    assert at_once.take(20.0) == [request for piece in pieces for request in piece]


def test_a_class_and_a_single_request_have_a_priority_that_reaches_the_engine():
    drafts = chat_class(priority=3).drafts(seed=1)
    single = SingleRequest(label="a", output_tokens=1, prompt_tokens=1, priority=-1).draft()
    requests = write([*drafts, single], PromptMaker(ToyTokenizer()), seed=1)
    assert [request.priority for request in requests] == [3, 3, 3, 3, -1]
