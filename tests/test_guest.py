"""A guest on a live engine's thread: the engine makes room, and goes on as if nobody had come."""

from __future__ import annotations

import pytest

from engine.backends.guest import Visit
from engine.plan import RunnerError
from tests.builders import ask, make_core, outputs_of
from tests.checked_runner import CheckedRunner
from tests.on_a_thread import serving, simulated, wait_until


class Counting:
    """Takes some turns and leaves."""

    def __init__(self, num_turns: int) -> None:
        self.num_left = num_turns
        self.host = None

    def begin(self, host) -> None:
        self.host = host

    def turn(self) -> float | None:
        self.num_left -= 1
        return 0.0 if self.num_left >= 0 else None


class Lasting(Counting):
    """Stays until it is told to go."""

    def __init__(self) -> None:
        super().__init__(0)
        self.is_told = False

    def turn(self) -> float | None:
        return None if self.is_told else 0.001


def finish(core) -> dict[str, list[int]]:
    while core.has_work:
        core.step()
    return outputs_of(core.log)


def test_what_ran_is_run_again_and_no_token_is_lost_or_repeated():
    undisturbed = finish(make_core(ask("a", 20, 9), ask("b", 5, 3)))
    core = make_core(ask("a", 20, 9), ask("b", 5, 3))
    for _ in range(4):
        core.step()
    visit = Visit(core, Counting(2))
    assert [visit.turn(), visit.turn(), visit.turn()] == [0.0, 0.0, None]
    assert finish(core) == undisturbed


def test_the_host_has_no_blocks_while_the_guest_is_there_and_its_cache_afterwards():
    sizes = []

    class Noting(CheckedRunner):
        def resize(self, num_blocks: int, block_size: int) -> None:
            sizes.append((num_blocks, block_size))

    core = make_core(ask("a", 20, 9), num_kv_blocks=40)
    core.runner = Noting(core.clock, 97, 16)
    core.step()
    guest = Counting(0)
    visit = Visit(core, guest)
    assert guest.host is core
    assert core.queues.pool.num_free == 40
    assert visit.turn() is None
    assert sizes == [(40, 16)]


def test_a_host_that_cannot_have_its_cache_back_says_so():
    class Refusing(CheckedRunner):
        def resize(self, num_blocks: int, block_size: int) -> None:
            raise RunnerError("no memory")

    core = make_core()
    core.runner = Refusing(core.clock, 97, 16)
    with pytest.raises(RunnerError, match="no memory"):
        Visit(core, Counting(0)).turn()


def test_commands_wait_until_the_guest_has_left_and_time_stands_still():
    with serving(simulated()) as backend:
        wait_until(lambda: backend.tokenizer is not None, backend.log)
        guest = Lasting()
        backend.lend(guest)
        wait_until(lambda: guest.host is not None, backend.log)
        held = backend.now()
        backend.submit(ask("late"))
        backend.resume()
        assert backend.now() == held
        assert not outputs_of(backend.log)
        guest.is_told = True
        wait_until(lambda: len(outputs_of(backend.log).get("late", ())) == 4, backend.log)
        wait_until(lambda: backend.now() > held, backend.log)


def test_a_backend_can_be_stopped_while_a_guest_is_there():
    with serving(simulated()) as backend:
        guest = Lasting()
        backend.lend(guest)
        wait_until(lambda: guest.host is not None, backend.log)
    assert not guest.is_told


def test_an_engine_that_was_paused_is_paused_afterwards():
    with serving(simulated()) as backend:
        backend.pause()
        guest = Counting(3)
        backend.lend(guest)
        backend.submit(ask("waiting"))
        wait_until(lambda: guest.num_left < 0, backend.log)
        held = backend.now()
        backend.lend(second := Counting(1))
        wait_until(lambda: second.num_left < 0, backend.log)
        assert backend.now() == held
        assert not outputs_of(backend.log)
