"""`Poller`: reads a device's gauges in a thread of its own.

A driver may take milliseconds to answer, and the engine must not wait for it. Since the log has one
writer, the thread only lays the newest reading down; the engine's thread takes it when it passes.
A reading that fails is one reading less: the next one is tried all the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread

from engine.events import Gauges
from engine.telemetry.gauge import READ_ERRORS, Telemetry

POLL_SECONDS = 0.25  # NVML's utilisation is sampled at 1/6 to 1 s; more often tells nothing more
STOP_SECONDS = 2.0


class Poller:
    """Readings for one other thread to take.

    Args:
        make: makes the gauge, in the thread that reads it.
        seconds: between two readings.
    """

    def __init__(self, make: Callable[[], Telemetry], seconds: float = POLL_SECONDS) -> None:
        self._make = make
        self._seconds = seconds
        self._newest: deque[Gauges] = deque(maxlen=1)
        self._problems: deque[str] = deque()
        self._known_problems: set[type[Exception]] = set()
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="telemetry", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def take(self, now: float) -> Gauges | None:
        """The newest reading, if it was not taken yet, as of `now` on the engine's clock."""
        if not self._newest:
            return None
        return replace(self._newest.pop(), time=now)

    def take_problem(self) -> str | None:
        """Why a reading failed, if that was not taken yet; once for every kind of reason."""
        return self._problems.popleft() if self._problems else None

    def stop(self) -> None:
        """End the thread; stopping one that never began, or twice, is harmless."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        gauge: Telemetry | None = None
        try:
            while not self._stopping.is_set():
                gauge = self._poll(gauge)
                self._stopping.wait(self._seconds)
        finally:
            if gauge:
                gauge.close()

    def _poll(self, gauge: Telemetry | None) -> Telemetry | None:
        """Lay a reading down; return the gauge, made now if there was none, or None again."""
        try:
            gauge = gauge or self._make()
            self._newest.append(gauge.read(0.0))
        except READ_ERRORS as error:
            self._note_problem(error)
        return gauge

    def _note_problem(self, error: Exception) -> None:
        if type(error) not in self._known_problems:
            self._known_problems.add(type(error))
            reason = f"{type(error).__name__}: {error}"
            self._problems.append(f"the device's gauges could not be read ({reason}); tried again")
