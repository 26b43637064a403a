"""`LocalBackend`: an `EngineCore` on its own thread.

The one place where threads meet: commands come in by a queue, events go out by the log.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread

from engine.backends.guest import Guest
from engine.backends.live import Command, Live, stop
from engine.clock import WallClock
from engine.config import ConfigError
from engine.core import EngineCore
from engine.events import EngineInfo, Failed
from engine.loading import LoadingCancelledError
from engine.log import EventLog
from engine.request import Request
from engine.settings import EngineSettings
from engine.telemetry import Poller, Telemetry, make_telemetry
from engine.tokenizer import Tokenizer
from engine.workload import Workload, check_speed

STOP_SECONDS = 10.0


def _make_gauge(info: EngineInfo) -> Telemetry:
    """What reads the engine's own device."""
    return make_telemetry(info.device_uuid)


class LocalBackend:
    """Steps the core for as long as it has work, and waits for commands when it has none.

    Args:
        build: makes the core on the engine's thread, since that may mean loading a model.
        make_gauge: makes what reads the device that the engine runs on.
    """

    def __init__(
        self,
        build: Callable[[WallClock, EventLog], EngineCore],
        make_gauge: Callable[[EngineInfo], Telemetry] = _make_gauge,
    ) -> None:
        self.log = EventLog()
        self._build = build
        self._make_gauge = make_gauge
        self._clock = WallClock()
        self._tokenizer: Tokenizer | None = None
        self._inbox: SimpleQueue[Command] = SimpleQueue()
        self._thread = Thread(target=self._run, name="engine", daemon=True)

    @property
    def tokenizer(self) -> Tokenizer | None:
        return self._tokenizer

    def now(self) -> float:
        return self._clock.now()

    def start(self) -> None:
        self._thread.start()

    def submit(self, request: Request) -> None:
        self._inbox.put(lambda engine: engine.submit(request))

    def play(self, workload: Workload, speed: float = 1.0, *, in_steps: bool = False) -> None:
        check_speed(speed)
        self._inbox.put(lambda engine: engine.play(workload, speed, in_steps=in_steps))

    def set_speed(self, speed: float) -> None:
        check_speed(speed)
        self._inbox.put(lambda engine: engine.set_speed(speed))

    def abort(self, request_id: str) -> None:
        self._inbox.put(lambda engine: engine.core.abort(request_id))

    def abort_all(self) -> None:
        self._inbox.put(lambda engine: engine.core.abort_all())

    def flush(self) -> None:
        self._inbox.put(lambda engine: engine.core.flush())

    def configure(self, settings: EngineSettings) -> None:
        self._inbox.put(lambda engine: engine.configure(settings))

    def clear_cache(self) -> None:
        self._inbox.put(lambda engine: engine.core.clear_cache())

    def pause(self) -> None:
        self._inbox.put(lambda engine: engine.pause())

    def resume(self) -> None:
        self._inbox.put(lambda engine: engine.resume())

    def step(self, count: int = 1) -> None:
        self._inbox.put(lambda engine: engine.step(count))

    def lend(self, guest: Guest) -> None:
        self._inbox.put(lambda engine: engine.lend(guest))

    def stop(self) -> None:
        """End the thread after the pass under way; stopping a stopped engine is harmless."""
        self._inbox.put(stop)
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        clock = self._clock
        try:
            core = self._build(clock, self.log)
            self._tokenizer = core.tokenizer
            gauges = Poller(partial(self._make_gauge, core.info))
            engine = Live(core, clock, gauges)
            gauges.start()
            try:
                while not engine.is_stopped:
                    self._obey(engine, wait=engine.turn())
            finally:
                gauges.stop()
        except LoadingCancelledError:
            return  # nobody is there to be told
        except ConfigError as error:
            self.log.append(Failed(clock.now(), str(error), is_fatal=True, is_usage=True))
        except Exception as error:  # noqa: BLE001 -- a dead engine must say so, not vanish
            message = f"{type(error).__name__}: {error}"
            self.log.append(Failed(clock.now(), message, is_fatal=True))

    def _obey(self, engine: Live, wait: float) -> None:
        """Carry out every command in the inbox, waiting up to `wait` seconds for the first."""
        try:
            while True:
                engine.obey(self._inbox.get(block=wait > 0, timeout=wait or None))
                wait = 0.0
        except Empty:
            return
