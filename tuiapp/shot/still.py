"""`StillBackend`: one moment of a recording, which stands still."""

from __future__ import annotations

from engine.events import Event, Step
from engine.log import EventLog
from engine.recording import Recording
from engine.request import Request
from engine.settings import EngineSettings
from engine.tokenizer import Tokenizer
from engine.workload import Workload


class StillBackend:
    """Holds what was recorded up to a moment; nothing can be asked of it.

    Args:
        num_passes: show the state after so many forward passes; None goes by `time`.
        time: seconds on the recorded clock.

    Raises:
        RecordingError: a line up to there is damaged.
    """

    def __init__(
        self, recording: Recording, num_passes: int | None = None, time: float | None = None
    ) -> None:
        self.log = EventLog(capacity=None)
        self._now = 0.0
        for event in recording.events():
            if time is not None and event.time > time:
                break
            self.log.append(event)
            self._now = max(self._now, event.time)
            if num_passes is not None and _is_pass(event, num_passes):
                break

    @property
    def tokenizer(self) -> Tokenizer | None:
        """None: there is no model."""
        return None

    def now(self) -> float:
        return self._now

    def seek(self, time: float) -> None: ...

    def seek_pass(self, index: int) -> None: ...

    def start(self) -> None: ...

    def submit(self, request: Request) -> None: ...

    def play(self, workload: Workload, speed: float = 1.0, *, in_steps: bool = False) -> None: ...

    def set_speed(self, speed: float) -> None: ...

    def abort(self, request_id: str) -> None: ...

    def abort_all(self) -> None: ...

    def flush(self) -> None: ...

    def configure(self, settings: EngineSettings) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def step(self, count: int = 1) -> None: ...

    def stop(self) -> None: ...


def _is_pass(event: Event, number: int) -> bool:
    return isinstance(event, Step) and bool(event.rows) and event.index + 1 >= number
