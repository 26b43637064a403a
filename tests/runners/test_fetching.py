"""Sampled tokens come to the host, also while another pass is under way."""

from __future__ import annotations

import torch

from engine.runners.inputs.fetching import Fetcher

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
