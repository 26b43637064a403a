"""Files that a run leaves beside its report: a recording, a trace, a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from engine.recording import RecordingWriter
from tuiapp.export.page import write_page
from tuiapp.export.run_trace import RunTrace
from tuiapp.export.sketch import Sketch
from tuiapp.export.trace import TraceWriter
from tuiapp.running.headless import Sink
from tuiapp.running.study import Study
from tuiapp.text import as_file_name


@dataclass(frozen=True, slots=True)
class Outputs:
    """Which files are wanted.

    Attributes:
        record: of several runs each has one of its own, with the variant in its name.
        trace, report: one for all runs.
    """

    record: Path | None = None
    trace: Path | None = None
    report: Path | None = None


class OutputFiles:
    """Writes the files while the runs are made; used in a `with` that ends when they are over.

    Args:
        num_runs: how many there will be.

    Raises:
        ConfigError: a file cannot be written.
    """

    def __init__(self, outputs: Outputs, num_runs: int) -> None:
        self._outputs = outputs
        self._num_runs = num_runs
        self._num_begun = 0
        self._trace = TraceWriter(outputs.trace) if outputs.trace else None
        self._sketches: list[Sketch] = []
        if outputs.report:
            write_page(outputs.report, None, ())  # before hours of runs, not after

    @contextmanager
    def follow(
        self, name: str, about: Mapping[str, Any] | None = None, *, is_drawn: bool = True
    ) -> Iterator[list[Sink]]:
        """What a run has to be told to; at the end its part of every file is complete.

        Args:
            about: what its recording says of it; None for a run that is recorded already.
            is_drawn: whether the page shows it, which has room for one run of each engine.

        Raises:
            ConfigError: a file cannot be written.
        """
        self._num_begun += 1
        recording = None
        if self._outputs.record and about is not None:
            recording = RecordingWriter(self._record_path(self._outputs.record, name), about)
        trace = RunTrace(self._trace, self._num_begun, name) if self._trace else None
        sketch = Sketch() if self._outputs.report and is_drawn else None
        try:
            yield [sink for sink in (recording, trace, sketch) if sink]
        finally:
            if recording:
                recording.close()
            if trace:
                trace.close()
        if sketch:  # one that was broken off before it began is not in the study either
            self._sketches.append(sketch)

    def finish(self, study: Study) -> None:
        """Write what takes all runs.

        Raises:
            ConfigError: it cannot be written.
        """
        if self._outputs.report:
            write_page(self._outputs.report, study, self._sketches)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._trace:
            self._trace.close()

    def _record_path(self, path: Path, name: str) -> Path:
        if self._num_runs == 1:
            return path
        return path.with_name(f"{path.stem}.{as_file_name(name)}{path.suffix}")
