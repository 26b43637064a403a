"""Requests of the user's own."""

from __future__ import annotations

from engine.events import Arrived
from engine.prompts import PromptMaker
from engine.request import Request
from tests.builders import events_of
from tests.tui.stage import StageBackend
from tuiapp.injector import BURST_SIZE, Injector


def arrivals(backend: StageBackend) -> list[Request]:
    return [event.request for event in events_of(backend.log, Arrived)]


def make_injector() -> tuple[StageBackend, Injector]:
    backend = StageBackend()
    maker = PromptMaker(backend.tokenizer)
    return backend, Injector(backend, lambda: maker, seed=3)


def test_a_burst_is_varied_and_the_same_for_the_same_seed():
    backend, injector = make_injector()
    assert injector.burst() == BURST_SIZE
    other_backend, other = make_injector()
    other.burst()
    requests = arrivals(backend)
    assert requests == arrivals(other_backend)
    assert len({len(request.prompt_token_ids) for request in requests}) >= 4
    assert len({request.sampling.max_tokens for request in requests}) >= 4
    assert all(request.sampling.ignore_eos for request in requests)
    assert len({request.sampling.seed for request in requests}) == BURST_SIZE


def test_requests_of_ones_own_are_numbered_on_and_known():
    backend, injector = make_injector()
    injector.inject_wish("", 20, 5, 2)
    injector.inject_wish("a batch waits", 999, 5, 1)
    assert [request.id for request in arrivals(backend)] == ["u0", "u1", "u2"]
    assert [len(request.prompt_token_ids) for request in arrivals(backend)] == [20, 20, 3]
    assert injector.next_ids(2) == ["u3", "u4"]
    assert injector.is_mine("u2")
    assert not injector.is_mine("u3")


def test_a_text_may_end_by_itself_and_filler_may_not():
    backend, injector = make_injector()
    injector.inject_wish("a batch waits", 9, 5, 1)
    injector.inject_wish("", 9, 5, 1)
    assert [request.sampling.ignore_eos for request in arrivals(backend)] == [False, True]


def test_before_the_engine_is_ready_nothing_is_sent():
    backend = StageBackend()
    injector = Injector(backend, lambda: None, seed=3)
    assert injector.burst() == 0
    injector.inject_wish("", 20, 5, 2)
    assert (arrivals(backend), injector.num_injected) == ([], 0)
