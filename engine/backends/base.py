"""`Backend`: the whole surface the app sees."""

from __future__ import annotations

from typing import Protocol

from engine.backends.guest import Guest
from engine.log import EventLog
from engine.request import Request
from engine.settings import EngineSettings
from engine.tokenizer import Tokenizer
from engine.workload import Workload


class Backend(Protocol):
    """Takes requests, appends to a log.

    A local backend logs client-side and engine-side events, a remote one only the former.
    Every method returns at once and may be called from any thread.
    """

    @property
    def log(self) -> EventLog:
        """What happened so far; another one takes its place where a replay goes elsewhere."""
        ...

    @property
    def tokenizer(self) -> Tokenizer | None:
        """Text to the engine's tokens and back; None until the engine is ready."""
        ...

    def now(self) -> float:
        """Seconds on the engine's clock."""
        ...

    def start(self) -> None: ...

    def submit(self, request: Request) -> None:
        """Queue a request; it arrives now, whatever its `arrival` says."""
        ...

    def play(self, workload: Workload, speed: float = 1.0, *, in_steps: bool = False) -> None:
        """Feed a workload from now on, in place of the one before.

        Args:
            in_steps: its times are those of a device with a decoding pass of 12 ms, and stretch
                or shrink with that of the engine's own.

        Raises:
            ValueError: the speed is not above 0 and finite.
        """
        ...

    def set_speed(self, speed: float) -> None:
        """Let the workload's requests arrive faster or slower.

        Raises:
            ValueError: the speed is not above 0 and finite.
        """
        ...

    def abort(self, request_id: str) -> None: ...

    def abort_all(self) -> None: ...

    def flush(self) -> None:
        """Let the next batch start without waiting for company."""
        ...

    def configure(self, settings: EngineSettings) -> None:
        """Change any knob; nothing happens under the settings that are in force."""
        ...

    def clear_cache(self) -> None:
        """Preempt what runs and forget all that the KV cache holds."""
        ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def step(self, count: int = 1) -> None:
        """While paused, run some forward passes."""
        ...

    def lend(self, guest: Guest) -> None:
        """Hold the engine, let a guest use its model until it is done, and go on."""
        ...

    def stop(self) -> None: ...
