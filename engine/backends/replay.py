"""`ReplayBackend`: a recorded run in place of an engine, on a thread of its own.

It plays at any speed, step by step, and from any moment on. What needs an engine does nothing: a
recording cannot be changed.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

from engine.backends.guest import Guest
from engine.backends.player import Player
from engine.events import Failed
from engine.log import EventLog
from engine.recording import Recording, RecordingError
from engine.request import Request
from engine.settings import EngineSettings
from engine.tokenizer import Tokenizer
from engine.workload import Workload

IDLE_SECONDS = 0.05  # a recording that stands still looks for commands about so often
STOP_SECONDS = 10.0
EVENTS_A_TURN = 2000  # then commands have their turn, however far behind it is

Command = Callable[[Player], object]


class ReplayBackend:
    """Puts the events of a recording into a log when their time has come.

    Attributes:
        log: what was played; a seek begins another one.
    """

    def __init__(self, recording: Recording) -> None:
        self._player = Player(recording)
        self._inbox: SimpleQueue[Command] = SimpleQueue()
        self._is_stopped = False
        self._thread = Thread(target=self._run, name="replay", daemon=True)

    @property
    def log(self) -> EventLog:
        return self._player.log

    @property
    def tokenizer(self) -> Tokenizer | None:
        """None: there is no model, so nothing can be asked of it."""
        return None

    def now(self) -> float:
        """Seconds on the clock of the engine that was recorded."""
        return self._player.now()

    def start(self) -> None:
        self._thread.start()

    def set_speed(self, speed: float) -> None:
        """Play faster or slower."""
        self._inbox.put(lambda player: player.set_speed(speed))

    def pause(self) -> None:
        self._inbox.put(lambda player: player.pause())

    def resume(self) -> None:
        self._inbox.put(lambda player: player.resume())

    def step(self, count: int = 1) -> None:
        """While paused, play some forward passes."""
        self._inbox.put(lambda player: player.step(count))

    def seek(self, time: float) -> None:
        """Go on from that moment, before or behind this one."""
        self._inbox.put(lambda player: player.seek(time))

    def seek_pass(self, index: int) -> None:
        """Go on from behind the forward pass of that index."""
        self._inbox.put(lambda player: player.seek_pass(index))

    def stop(self) -> None:
        """End the thread; stopping a stopped backend is harmless."""
        self._inbox.put(lambda player: self._end())
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def submit(self, request: Request) -> None: ...

    def play(self, workload: Workload, speed: float = 1.0, *, in_steps: bool = False) -> None: ...

    def abort(self, request_id: str) -> None: ...

    def abort_all(self) -> None: ...

    def flush(self) -> None: ...

    def clear_cache(self) -> None: ...

    def configure(self, settings: EngineSettings) -> None: ...

    def lend(self, guest: Guest) -> None: ...

    def _end(self) -> None:
        self._is_stopped = True

    def _run(self) -> None:
        player = self._player
        try:
            while not self._is_stopped:
                self._obey(player, wait=self._turn(player))
        except RecordingError as error:
            self.log.append(Failed(player.now(), str(error), is_fatal=True))

    def _turn(self, player: Player) -> float:
        """Play what is due; return seconds that may be spent waiting for a command."""
        until_next = player.play(EVENTS_A_TURN)
        return IDLE_SECONDS if until_next is None else min(IDLE_SECONDS, until_next)

    def _obey(self, player: Player, wait: float) -> None:
        """Carry out every command in the inbox, waiting up to `wait` seconds for the first."""
        try:
            while not self._is_stopped:
                self._inbox.get(block=wait > 0, timeout=wait or None)(player)
                wait = 0.0
        except Empty:
            return
