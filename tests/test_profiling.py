"""Which passes are summed up, and which are traced."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.events import Arrived, Finished
from engine.request import FinishReason
from tests.builders import ask
from tests.passes import step
from tuiapp.running.profiling import NUM_TRACED, Profiler, Profiling


class Noted:
    """A trace that notes when it was begun and ended."""

    def __init__(self, path: Path, error: OSError | None = None) -> None:
        self.path = path
        self.told: list[str] = []
        self.error = error

    def start(self) -> None:
        self.told.append("start")

    def stop(self) -> None:
        self.told.append("stop")
        if self.error:
            raise self.error


class Tracing:
    def __init__(self, num_requests, *, path: Path | None = Path("t.json"), error=None) -> None:
        self.traces: list[Noted] = []
        self.error = error
        self.profiler = Profiler(num_requests, path, self.make)
        self.began = 0.0

    def make(self, path: Path) -> Noted:
        self.traces.append(Noted(path, self.error))
        return self.traces[-1]

    def arrive(self, *names, max_tokens=100) -> None:
        self.profiler.write([Arrived(0.0, ask(name, 4, max_tokens)) for name in names])

    def run(self, num_passes, *more) -> None:
        for _ in range(num_passes):
            self.began += 0.05
            self.profiler.write([step(self.began), *more])

    def end(self, name) -> None:
        self.profiler.write([Finished(self.began, name, FinishReason.LENGTH)])

    @property
    def told(self) -> list[str]:
        return [word for trace in self.traces for word in trace.told]


def test_a_trace_begins_when_half_of_the_requests_have_ended():
    run = Tracing(4)
    run.arrive("a", "b", "c", "d")
    run.run(5)
    run.end("a")
    run.run(1)
    assert run.told == []
    run.end("b")
    assert run.told == ["start"]
    run.run(NUM_TRACED - 1)
    assert run.told == ["start"]
    run.run(1)
    assert run.told == ["start", "stop"]
    run.run(100)
    outcome = run.profiler.close()
    assert run.told == ["start", "stop"], "once is enough"
    assert outcome.trace == Path("t.json")


def test_or_when_half_of_the_tokens_have_come_if_all_answers_end_together():
    run = Tracing(2)
    run.arrive("a", "b", max_tokens=10)
    run.run(9)
    assert run.told == []
    run.run(1)
    assert run.told == ["start"]


def test_passes_that_are_traced_are_left_out_of_the_sums():
    run = Tracing(1)
    run.arrive("a", max_tokens=20)
    run.run(10)
    run.run(NUM_TRACED)
    run.run(6)
    host = run.profiler.close().host
    assert host is not None
    assert host.cycle.n == 9 + 5
    assert host.cycle.max == pytest.approx(0.05), "nor is the gap a pass"


def test_a_run_that_ends_meanwhile_leaves_what_there_is():
    run = Tracing(1)
    run.arrive("a", max_tokens=4)
    run.run(5)
    assert run.profiler.close().trace == Path("t.json")
    assert run.told == ["start", "stop"]


def test_without_a_file_nothing_is_traced():
    run = Tracing(1, path=None)
    run.arrive("a", max_tokens=4)
    run.run(30)
    outcome = run.profiler.close()
    assert (run.told, outcome.trace) == ([], None)
    assert outcome.host is not None
    assert outcome.host.cycle.n == 29


def test_a_trace_that_cannot_be_written_is_said_with_its_file():
    run = Tracing(1, error=OSError(28, "No space left on device"))
    run.arrive("a", max_tokens=4)
    run.run(5)
    with pytest.raises(ConfigError, match=r"t\.json: cannot be written: No space left on device"):
        run.profiler.close()


def test_files_are_named_after_preset_and_run_and_their_folder_is_made(tmp_path):
    folder = tmp_path / "new" / "er"
    path = Profiling(folder).trace_path("straggler", "static")
    assert path == folder / "straggler.static.torch.json"
    assert folder.is_dir()
    assert Profiling(folder).trace_path("a/b", "[x] y").name == "a-b.-x-y.torch.json"
    assert Profiling().trace_path("straggler", "static") is None


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made: File exists"):
        Profiling(tmp_path / "file").trace_path("straggler", "static")
