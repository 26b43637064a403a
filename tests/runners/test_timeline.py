"""When a device that is not here is done."""

from __future__ import annotations

from engine.clock import VirtualClock
from engine.plan import Done, PassTiming
from engine.runners.timeline import Timeline


def test_a_pass_ends_its_own_time_after_it_was_launched():
    clock = VirtualClock()
    launch = Timeline(clock).add(Done([7], mode="eager"), 2.0)
    assert clock.now() == 0.0
    assert launch.result() == [7]
    assert clock.now() == 2.0
    assert (launch.mode, launch.timing) == ("eager", PassTiming(device=2.0))


def test_a_pass_that_was_launched_ahead_begins_when_the_one_before_ends():
    clock = VirtualClock()
    timeline = Timeline(clock)
    first, second = timeline.add(Done([]), 2.0), timeline.add(Done([]), 3.0)
    first.result()
    assert clock.now() == 2.0
    second.result()
    assert clock.now() == 5.0


def test_time_that_the_host_spent_meanwhile_does_not_count_twice():
    clock = VirtualClock()
    launch = Timeline(clock).add(Done([]), 2.0)
    clock.sleep(1.5)
    launch.result()
    assert clock.now() == 2.0
    clock.sleep(1.0)
    launch.result()
    assert clock.now() == 3.0, "who is late waits no more"
