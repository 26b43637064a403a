"""Any pass that is still in memory, shown exactly as a run that was stopped there would be."""

from __future__ import annotations

import pytest

from engine.log import CHUNK
from engine.request import Request, SamplingParams
from engine.settings import BatcherName, Delivery
from tests.tui.stage import StageBackend, mixed_traffic
from tuiapp import rewind as module
from tuiapp.rewind import Rewind
from tuiapp.viewmodel import ViewModel

RUNS = {
    "continuous": {},
    "static": {"batcher": BatcherName.STATIC},
    "dynamic": {"batcher": BatcherName.DYNAMIC},
    "streaming batch": {"batcher": BatcherName.STATIC, "deliver": Delivery.STREAM},
    "out of blocks": {"num_kv_blocks": 40},
    "whole prompts": {"enable_chunked_prefill": False},
}


def started(**knobs):
    """A backend with traffic, and what rewinds it."""
    backend = StageBackend(**knobs)
    mixed_traffic(backend)
    return backend, Rewind(backend.log, ViewModel(backend.log))


def stopped_at(number, **knobs):
    """The frame of a run that was stopped after so many passes."""
    backend = StageBackend(**knobs)
    mixed_traffic(backend)
    backend.run(number)
    return ViewModel(backend.log).poll(backend.now())


@pytest.mark.parametrize("knobs", RUNS.values(), ids=RUNS.keys())
@pytest.mark.parametrize("spacing", [1, 300, 10**9])
def test_a_pass_is_shown_as_a_run_stopped_there_shows_it(knobs, spacing, monkeypatch):
    monkeypatch.setattr(module, "SPACING", spacing)
    backend, rewind = started(**knobs)
    for _ in range(30):
        backend.run(9)
        rewind.poll(backend.now())
    assert rewind.newest == 270
    for number in (1, 2, 30, 29, 31, 120, 121, 200, 199, 269, 270, 64):
        assert rewind.go(number)
        assert rewind.at == number
        assert rewind.snapshot == stopped_at(number, **knobs)


def test_every_pass_can_be_shown_there_and_back():
    backend, rewind = started()
    backend.run(60)
    rewind.poll(backend.now())
    forth = []
    rewind.go(1)
    while rewind.move(1):
        forth.append(rewind.snapshot)
    back = []
    while rewind.move(-1):
        back.append(rewind.snapshot)
    assert [frame.num_passes for frame in forth] == list(range(2, 61))
    assert back[::-1][1:] == forth[:-1]


def test_the_engine_runs_on_while_the_past_is_shown():
    backend, rewind = started()
    backend.run(50)
    rewind.poll(backend.now())
    rewind.go(20)
    shown = rewind.snapshot
    backend.run(50)
    assert rewind.poll(backend.now()).num_passes == 100
    assert rewind.snapshot is shown
    assert (rewind.at, rewind.newest) == (20, 100)
    rewind.follow()
    rewind.poll(backend.now())
    assert (rewind.at, rewind.snapshot.num_passes) == (None, 100)


def test_beyond_either_end_the_nearest_pass_is_shown_and_that_is_said():
    backend, rewind = started()
    backend.run(25)
    rewind.poll(backend.now())
    assert not rewind.go(0)
    assert rewind.at == 1
    assert not rewind.move(-10)
    assert rewind.at == 1
    assert not rewind.go(26)
    assert rewind.at == 25
    assert not rewind.move(1)


def test_before_the_first_pass_there_is_nothing_to_go_back_to():
    backend, rewind = started()
    rewind.poll(backend.now())
    assert not rewind.move(-1)
    assert rewind.at is None


def test_a_request_is_that_of_the_pass_shown():
    backend, rewind = started()
    backend.run(150)
    rewind.poll(backend.now())
    now = rewind.request("r0").num_output_tokens
    rewind.go(4)
    assert rewind.request("r0").num_output_tokens == 4 < now
    assert rewind.request_ids == tuple(f"r{number}" for number in range(40))


def long_run(monkeypatch, capacity, num_passes):
    """A log that forgets, read as it grows."""
    monkeypatch.setattr(module, "SPACING", 500)
    backend = StageBackend()
    backend.log._capacity = capacity
    rewind = Rewind(backend.log, ViewModel(backend.log))
    for number in range(40):
        prompt, sampling = (1,) * 20, SamplingParams(max_tokens=num_passes)
        backend.submit(Request(f"r{number}", prompt, sampling))
    for _ in range(num_passes // 20):
        backend.run(20)
        rewind.poll(backend.now())
    return backend, rewind


def test_what_the_log_has_forgotten_cannot_be_shown(monkeypatch):
    backend, rewind = long_run(monkeypatch, CHUNK, 900)
    assert backend.log.first > 0
    assert 1 < rewind.oldest < rewind.newest == 900
    assert not rewind.go(1)
    assert rewind.at == rewind.oldest
    assert rewind.go(rewind.oldest + 7)
    assert rewind.snapshot.num_passes == rewind.oldest + 7


def test_copies_are_bounded_whatever_the_run(monkeypatch):
    monkeypatch.setattr(module, "MAX_COPIES", 4)
    _, rewind = long_run(monkeypatch, None, 900)
    assert len(rewind._copies) <= 4
    assert rewind.oldest == 1
    for number in (1, 450, 899):
        assert rewind.go(number)
        assert rewind.snapshot.num_passes == number


def test_copies_are_bounded_in_memory(monkeypatch):
    monkeypatch.setattr(module, "MAX_ENTRIES", 30_000)
    _, rewind = long_run(monkeypatch, None, 900)
    assert sum(copy.num_entries for copy in rewind._copies) <= 30_000
