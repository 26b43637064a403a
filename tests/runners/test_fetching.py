"""Sampled tokens come to the host, also while another pass is under way."""

from __future__ import annotations

from random import Random

import pytest
import torch

from engine.runners.inputs.fetching import Fetcher
from tests.runners.late_device import LateDevice

CPU = torch.device("cpu")


def test_two_passes_can_be_under_way():
    fetcher, tokens = Fetcher(CPU), torch.tensor([3, 1])
    first = fetcher.fetch(tokens)
    tokens.copy_(torch.tensor([5, 9]))  # as the next replay of a graph does
    second = fetcher.fetch(tokens)

    assert (first.wait(), second.wait()) == ([3, 1], [5, 9])


def test_there_is_room_for_any_number_of_rows():
    fetcher = Fetcher(CPU)

    assert fetcher.fetch(torch.arange(1000)).wait() == list(range(1000))
    assert fetcher.fetch(torch.arange(0)).wait() == []


@pytest.fixture
def late(monkeypatch):
    with LateDevice(monkeypatch) as device:
        yield device


def test_the_host_waits_for_its_tokens_and_not_for_those_of_the_next_pass(late):
    fetcher = Fetcher(CPU)
    first, second = fetcher.fetch(torch.tensor([3, 1])), fetcher.fetch(torch.tensor([5, 9]))

    assert (late.num_waits, first.wait(), late.num_done) == (0, [3, 1], 1)
    assert (second.wait(), late.num_waits) == ([5, 9], 2)


@pytest.mark.parametrize("seed", range(20))
def test_tokens_are_right_however_far_the_device_has_come(late, seed):
    rng, fetcher = Random(seed), Fetcher(CPU)
    tokens = torch.tensor([0, 1])
    last = fetcher.fetch(tokens)
    for number in range(10):
        tokens.add_(2)  # as the next replay of a graph writes over them
        following = fetcher.fetch(tokens)
        late.advance(rng.randrange(4))
        assert last.wait() == [2 * number, 2 * number + 1]
        last = following


def test_tokens_under_way_stay_where_they_are_when_more_rows_come(late):
    fetcher = Fetcher(CPU)
    first, second = fetcher.fetch(torch.tensor([3])), fetcher.fetch(torch.arange(1000))
    assert first.wait() == [3]
    third = fetcher.fetch(torch.arange(500))

    assert (second.wait(), third.wait()) == (list(range(1000)), list(range(500)))
