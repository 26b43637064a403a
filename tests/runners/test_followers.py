"""Processes that follow: how one that ends is told of, and how all of them come to an end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import pytest

from engine.plan import RunnerError
from engine.runners.parallel.followers import Followers

DEADLINE = 30.0  # seconds, far more than a process needs to end
WAITS = "import time; time.sleep(600)"
FAILS = "import sys; print('loading', file=sys.stderr); sys.exit('no memory is left')"

Start = Callable[..., Followers]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts one for each program; they are ended after the test."""
    started = []

    def begin(*programs: str) -> Followers:
        command = [sys.executable, "-c", "import os; exec(os.environ['PROGRAM'])"]
        started.append(Followers(command, [{"PROGRAM": program} for program in programs]))
        return started[-1]

    yield begin
    for followers in started:
        followers.kill()
        followers.wait()


def test_those_that_are_there_are_not_complained_of(start: Start):
    followers = start(WAITS, WAITS)
    followers.check()
    assert followers.are_alive


def test_one_that_ends_is_told_of_with_what_it_said_last(start: Start):
    followers = start(WAITS, FAILS)
    deadline = time.monotonic() + DEADLINE
    while followers.are_alive:
        assert time.monotonic() < deadline, "it did not end"
        time.sleep(0.01)

    with pytest.raises(RunnerError) as caught:
        followers.check()

    assert str(caught.value) == (
        "rank 2 of 3 has ended (no memory is left); the model cannot run without it, so start again"
    )


def test_one_that_was_killed_is_told_of_by_the_signal(start: Start):
    followers = start(WAITS)
    followers.kill()
    with pytest.raises(RunnerError, match=r"rank 1 of 2 has ended \(signal 9\)"):
        followers.check()


def test_they_may_end_by_themselves(start: Start):
    followers = start("pass", "pass")
    followers.wait()
    assert not followers.are_alive
