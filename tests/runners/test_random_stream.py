"""A request's random numbers are its own, and can be had in any order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from engine.request import Request, SamplingParams
from engine.runners.sampling.random_stream import seed_of, start_of, uniforms


def uniform(seed: int, index: int) -> float:
    return float(uniforms(np.array([start_of(seed)], np.uint64), np.array([index]))[0])


def test_numbers_fill_the_unit_interval_evenly():
    numbers = [uniform(7, index) for index in range(4000)]

    assert min(numbers) >= 0
    assert max(numbers) < 1
    tenths = [sum(tenth <= number * 10 < tenth + 1 for number in numbers) for tenth in range(10)]
    assert all(330 < count < 470 for count in tenths)


def test_neighbours_in_a_stream_and_across_streams_are_unrelated():
    numbers = [[uniform(seed, index) for index in range(200)] for seed in range(20)]

    assert len({number for stream in numbers for number in stream}) > 3990
    pairs = [pair for stream in numbers for pair in pairwise(stream)]
    pairs += pairwise(stream[0] for stream in numbers)
    covariance = sum((a - 0.5) * (b - 0.5) for a, b in pairs) / len(pairs)
    assert abs(covariance) < 0.01


def test_a_number_is_the_same_in_every_process_and_version():
    assert uniform(42, 3) == 0.06735783815383911


def test_many_streams_are_read_at_once():
    starts = np.array([start_of(seed) for seed in range(50)], np.uint64)

    numbers = uniforms(starts, np.arange(50))

    assert numbers.tolist() == [uniform(seed, seed) for seed in range(50)]


def test_every_number_survives_single_precision():
    assert all((uniform(1, index) * 2**24).is_integer() for index in range(100))


def test_a_seed_may_be_any_whole_number():
    assert 0 <= uniform(-5, 0) < 1
    assert 0 <= uniform(2**80 + 1, 0) < 1
    assert uniform(2**80 + 1, 0) == uniform(1, 0)


def test_without_a_seed_the_id_decides():
    seeded = Request("a", (1,), SamplingParams(seed=9))

    assert seed_of(seeded) == 9
    assert seed_of(Request("a", (1,))) == seed_of(Request("a", (2, 3))) == 0xE8B7BE43
    assert seed_of(Request("b", (1,))) != seed_of(Request("a", (1,)))
