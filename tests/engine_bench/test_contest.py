"""Whoever contends takes turns, and what counts are medians."""

from __future__ import annotations

import time

import pytest

from engine.bench.contest import ContestError, hold


class Pacing:
    """Takes so much CPU time for its tokens; notes its turns."""

    def __init__(self, name, work, turns, *, is_told=True, num_tokens=10) -> None:
        self.name = name
        self._is_told = is_told
        self._work = work
        self._turns = turns
        self._num_tokens = num_tokens

    def serve(self) -> int:
        self._turns.append(self.name)
        sum(range(self._work))
        return self._num_tokens

    def cpu_seconds(self) -> float | None:
        return time.process_time() if self._is_told else None


def test_all_take_turns_and_the_first_round_does_not_count():
    turns, told = [], []
    contenders = [Pacing("a", 100_000, turns), Pacing("b", 3_000_000, turns)]
    first, second = hold(contenders, 10, num_rounds=2, on_turn=told.append)
    assert turns == told == ["a", "b"] * 3
    assert (first.name, first.lead, first.cpu_lead) == ("a", 1.0, 1.0)
    assert second.lead > 2
    assert second.cpu_lead is not None
    assert second.rate.per_second < first.rate.per_second


def test_of_a_server_elsewhere_no_cpu_time_is_told():
    turns = []
    contenders = [Pacing("a", 100_000, turns), Pacing("b", 100_000, turns, is_told=False)]
    server = hold(contenders, 10, num_rounds=1)[1]
    assert (server.rate.per_cpu_second, server.cpu_lead) == (None, None)
    assert server.lead > 0


def test_who_delivers_less_is_no_contender():
    with pytest.raises(ContestError, match="lazy delivered 9 output tokens in place of 10"):
        hold([Pacing("lazy", 1, [], num_tokens=9)], 10, num_rounds=1)
