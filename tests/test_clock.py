from __future__ import annotations

import pytest

from engine import clock as clock_module
from engine.clock import VirtualClock, WallClock


class World:
    """Real time, as far as a wall clock can tell."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def perf_counter(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.seconds += seconds


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(clock_module, "time", world)
    return world


def test_virtual_time_passes_only_by_sleeping():
    clock = VirtualClock()
    clock.sleep(3600.0)
    clock.sleep(0.5)
    assert (clock.now(), clock.now()) == (3600.5, 3600.5)


def test_virtual_time_never_goes_back():
    clock = VirtualClock()
    clock.sleep(2.0)
    clock.sleep(-1.0)
    assert clock.now() == 2.0


def test_wall_time_begins_at_zero_and_passes_by_itself(world: World):
    clock = WallClock()
    assert clock.now() == 0.0
    world.seconds += 7.0
    assert clock.now() == 7.0


def test_sleeping_lets_real_time_pass_but_never_a_negative_one(world: World):
    clock = WallClock()
    clock.sleep(3.0)
    clock.sleep(-5.0)
    assert (clock.now(), world.seconds) == (3.0, 1003.0)


def test_a_held_clock_stands_still_and_goes_on_from_where_it_stood(world: World):
    clock = WallClock()
    clock.sleep(3.0)
    clock.hold()
    world.seconds += 100.0
    assert clock.now() == 3.0
    clock.release()
    assert clock.now() == 3.0
    world.seconds += 2.0
    assert clock.now() == 5.0


def test_holding_or_releasing_twice_changes_nothing(world: World):
    clock = WallClock()
    clock.hold()
    world.seconds += 4.0
    clock.hold()
    assert clock.now() == 0.0
    clock.release()
    world.seconds += 1.0
    clock.release()
    assert clock.now() == 1.0


def test_a_fast_clock_tells_more_time_and_sleeps_less(world: World):
    clock = WallClock(speed=10.0)
    clock.sleep(5.0)
    assert (clock.now(), world.seconds) == (5.0, 1000.5)


def test_a_fast_clock_can_be_held_too(world: World):
    clock = WallClock(speed=10.0)
    clock.sleep(5.0)
    clock.hold()
    world.seconds += 3.0
    clock.release()
    world.seconds += 0.5
    assert clock.now() == 10.0


def test_without_a_fake_world_the_wall_clock_tells_real_time():
    clock = WallClock()
    moments = [clock.now() for _ in range(100)]
    assert moments == sorted(moments)
    assert 0 <= moments[0] <= moments[-1]
