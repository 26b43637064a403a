"""Readings cross from one thread to another, and nobody waits."""

from __future__ import annotations

import time
from threading import Event, current_thread

import psutil

from engine.events import Gauges
from engine.telemetry import Poller


class Counting:
    """A gauge whose load is the number of readings; `gate` holds it up as a slow driver would."""

    def __init__(self) -> None:
        self.num_read = 0
        self.threads: set[str] = set()
        self.is_closed = False
        self.gate = Event()
        self.gate.set()

    def read(self, now: float) -> Gauges:
        assert self.gate.wait(10)
        self.num_read += 1
        self.threads.add(current_thread().name)
        return Gauges(now, "GPU", float(self.num_read), 0, 0)

    def close(self) -> None:
        self.is_closed = True


class Failing(Counting):
    """A gauge of which some readings fail, each in its own way.

    Args:
        errors: of the first readings, in order; None is a reading that succeeds.
    """

    def __init__(self, *errors: Exception | None) -> None:
        super().__init__()
        self.errors = list(errors)

    def read(self, now: float) -> Gauges:
        if self.errors and (error := self.errors.pop(0)):
            raise error
        return super().read(now)


def wait_until(holds) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.001)


def test_the_newest_reading_is_taken_once_and_stamped_when_it_is_taken():
    gauge = Counting()
    poller = Poller(lambda: gauge, seconds=0.001)
    poller.start()
    wait_until(lambda: gauge.num_read > 5)
    poller.stop()

    reading = poller.take(now=12.5)

    assert reading is not None
    assert (reading.time, reading.utilisation) == (12.5, gauge.num_read)
    assert poller.take(now=13.0) is None
    assert gauge.threads == {"telemetry"}
    assert gauge.is_closed


def test_nobody_waits_for_a_driver_that_is_slow():
    gauge = Counting()
    gauge.gate.clear()
    poller = Poller(lambda: gauge)
    poller.start()
    assert poller.take(now=1.0) is None
    gauge.gate.set()
    wait_until(lambda: poller.take(now=2.0))
    poller.stop()


def test_it_reads_no_more_often_than_asked():
    gauge = Counting()
    poller = Poller(lambda: gauge, seconds=60)
    poller.start()
    wait_until(lambda: poller.take(now=0.0))
    poller.stop()
    assert gauge.num_read == 1


def test_stopping_what_never_began_or_has_stopped_is_harmless():
    gauge = Counting()
    poller = Poller(lambda: gauge)
    poller.stop()
    assert gauge.num_read == 0

    poller = Poller(lambda: gauge)
    poller.start()
    wait_until(lambda: gauge.num_read)
    poller.stop()
    poller.stop()
    assert gauge.is_closed


def test_readings_go_on_after_those_that_failed_and_each_kind_of_reason_is_told_once():
    denied, gone = PermissionError("/proc/stat is closed"), psutil.NoSuchProcess(1)
    gauge = Failing(denied, None, denied, gone, denied, gone)
    poller = Poller(lambda: gauge, seconds=0.001)
    poller.start()
    wait_until(lambda: not gauge.errors and gauge.num_read > 2)
    poller.stop()

    assert poller.take(now=1.0) is not None
    assert poller.take_problem() == (
        "the device's gauges could not be read (PermissionError: /proc/stat is closed); tried again"
    )
    assert "NoSuchProcess" in (poller.take_problem() or "")
    assert poller.take_problem() is None
    assert gauge.is_closed


def test_a_gauge_that_cannot_be_made_at_first_is_made_later():
    gauge, errors = Counting(), [OSError("no driver yet"), RuntimeError("not yet")]

    def make() -> Counting:
        if errors:
            raise errors.pop(0)
        return gauge

    poller = Poller(make, seconds=0.001)
    poller.start()
    wait_until(lambda: gauge.num_read)
    poller.stop()
    assert poller.take_problem() == (
        "the device's gauges could not be read (OSError: no driver yet); tried again"
    )
    assert gauge.is_closed


def test_one_that_could_never_be_made_is_stopped_all_the_same():
    def make() -> Counting:
        raise OSError("no such device")

    poller = Poller(make, seconds=0.001)
    poller.start()
    wait_until(poller.take_problem)
    poller.stop()
    assert poller.take(now=1.0) is None
