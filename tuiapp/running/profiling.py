"""`Profiler`: follows a run and finds where its host time goes, as a sink of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engine.config import ConfigError
from engine.events import Arrived, Event, Finished, Step, is_pass
from engine.metrics.host_time import HostReport, HostTime
from tuiapp.text import as_file_name

NUM_TRACED = 16  # passes: enough to see a rhythm, and a file of some megabytes


@dataclass(frozen=True, slots=True)
class Profiling:
    """What is wanted.

    Attributes:
        folder: for a trace of torch's profiler by run; None writes none.
    """

    folder: Path | None = None

    def trace_path(self, preset: str, run: str) -> Path | None:
        """The file of one run, in a folder that is there.

        Raises:
            ConfigError: the folder cannot be made.
        """
        if self.folder is None:
            return None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"cannot be made: {error.strerror}", place=str(self.folder)
            ) from error
        return self.folder / f"{as_file_name(preset)}.{as_file_name(run)}.torch.json"


@dataclass(frozen=True, slots=True)
class ProfileOutcome:
    """What came of it.

    Attributes:
        host: None where no pass followed another.
        trace: the file that was written.
    """

    host: HostReport | None
    trace: Path | None = None


class Trace(Protocol):
    """Records everything between two moments, and then writes it down."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Profiler:
    """Sums up all passes, and has some in the middle of the run traced.

    Passes that are traced are left out of the sums, since tracing makes them slower.

    Args:
        num_requests: that the run will have.
        make_trace: makes the trace of a file; not called where `path` is None.
    """

    def __init__(
        self, num_requests: int, path: Path | None, make_trace: Callable[[Path], Trace]
    ) -> None:
        self._time = HostTime()
        self._progress = _Progress(num_requests)
        self._path = path
        self._make_trace = make_trace
        self._trace: Trace | None = None
        self._num_left = NUM_TRACED if path else 0
        self._is_written = False

    def write(self, events: Sequence[Event]) -> None:
        """Read on; between two passes, and so the moment to begin or end a trace."""
        self._progress.feed(events)
        if self._trace:
            self._count(sum(map(is_pass, events)))
        else:
            self._time.feed(events)
            if self._num_left and self._path and self._progress.is_half_done:
                self._trace = self._make_trace(self._path)
                self._trace.start()

    def close(self) -> ProfileOutcome:
        """End a trace that the run did not last for, and sum up.

        Raises:
            ConfigError: the trace cannot be written.
        """
        self._end_trace()
        return ProfileOutcome(self._time.report(), self._path if self._is_written else None)

    def _count(self, num_passes: int) -> None:
        self._num_left = max(0, self._num_left - num_passes)
        if not self._num_left:
            self._end_trace()

    def _end_trace(self) -> None:
        if self._trace is None:
            return
        trace, self._trace, self._num_left = self._trace, None, 0
        try:
            trace.stop()
        except OSError as error:
            problem = f"cannot be written: {error.strerror}"
            raise ConfigError(problem, place=str(self._path)) from error
        self._is_written = True
        self._time.skip()


class _Progress:
    """Whether half of a run is over, by its requests or by the tokens that are to be expected."""

    def __init__(self, num_requests: int) -> None:
        self._num_requests = num_requests
        self._num_arrived = self._num_finished = 0
        self._num_tokens = self._most_tokens = 0

    @property
    def is_half_done(self) -> bool:
        if not self._num_arrived:
            return False
        expected = self._most_tokens / self._num_arrived * self._num_requests
        return self._num_finished * 2 >= self._num_requests or self._num_tokens * 2 >= expected

    def feed(self, events: Sequence[Event]) -> None:
        for event in events:
            match event:
                case Arrived(request=request):
                    self._num_arrived += 1
                    self._most_tokens += request.sampling.max_tokens
                case Finished():
                    self._num_finished += 1
                case Step():
                    self._num_tokens += sum(row.sampled for row in event.rows)
                case _:
                    pass
