"""Any pass that is still in memory, shown exactly as a run that was stopped there would be."""

from __future__ import annotations

import pytest

from engine.log import CHUNK
from engine.request import Request, SamplingParams
from engine.settings import BatcherName, Delivery, SchedulingPolicy
from tests.tui.stage import StageBackend, alike_traffic, mixed_traffic
from tuiapp.view import rewind as module
from tuiapp.view.rewind import Rewind
from tuiapp.view.viewmodel import ViewModel

RUNS = {
    "continuous": {},
    "static": {"batcher": BatcherName.STATIC},
    "dynamic": {"batcher": BatcherName.DYNAMIC},
    "streaming batch": {"batcher": BatcherName.STATIC, "deliver": Delivery.STREAM},
    "out of blocks": {"num_kv_blocks": 40},
    "whole prompts": {"enable_chunked_prefill": False},
    "prefix caching": {"enable_prefix_caching": True},
    "caching, out of blocks": {"enable_prefix_caching": True, "num_kv_blocks": 40},
    "planned ahead": {"async_scheduling": True},
    "planned ahead, out of blocks": {"async_scheduling": True, "num_kv_blocks": 40},
    "by priority": {"scheduling_policy": SchedulingPolicy.PRIORITY},
}
SHOWN = (1, 2, 30, 29, 31, 120, 121, 200, 199, 269, 270, 64)


def backend_with_traffic(**knobs):
    backend = StageBackend(**knobs)
    mixed_traffic(backend)
    if knobs.get("enable_prefix_caching"):
        alike_traffic(backend, first=40)
    return backend


def started(**knobs):
    """A backend with traffic, and what rewinds it."""
    backend = backend_with_traffic(**knobs)
    return backend, Rewind(backend.log, ViewModel(backend.log))


def frames_of_stops(numbers, **knobs):
    """The frames of a run that is stopped after so many passes, and so many more, by number."""
    backend, frames = backend_with_traffic(**knobs), {}
    watch = ViewModel(backend.log)
    for number in sorted(numbers):
        while watch.poll(0.0).num_passes < number:
            backend.run(1)
        frames[number] = ViewModel(backend.log).poll(backend.now())
    return frames


@pytest.mark.parametrize("knobs", RUNS.values(), ids=RUNS.keys())
def test_a_pass_is_shown_as_a_run_stopped_there_shows_it(knobs, monkeypatch):
    stops = frames_of_stops(SHOWN, **knobs)
    backend, rewinds = backend_with_traffic(**knobs), []
    for spacing in (1, 300, 10**9):
        monkeypatch.setattr(module, "SPACING", spacing)
        rewinds.append(Rewind(backend.log, ViewModel(backend.log)))
    for _ in range(31):
        backend.run(9)
        for rewind in rewinds:
            rewind.poll(backend.now())
    for rewind in rewinds:
        for number in SHOWN:
            assert rewind.go(number)
            assert (rewind.at, rewind.snapshot) == (number, stops[number])


def test_what_is_rewound_has_evictions_and_prefixes_found_in_the_cache():
    tight = frames_of_stops((270,), num_kv_blocks=40)[270].meters
    alike = frames_of_stops((270,), enable_prefix_caching=True)[270].meters
    assert tight.num_preemptions > 10
    assert alike.num_hit > 500


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
