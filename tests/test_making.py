from dataclasses import replace
from itertools import count

import pytest

from engine.events import Arrived, Ready
from engine.recording import Recording
from tests.recording.builders import run_crowd
from tests.told import measured
from tuiapp.running.making import make_runs
from tuiapp.running.outputs import OutputFiles, Outputs

NOTHING = Outputs()


def makes_of(*names, made, stop_at=None):
    """Engines that note who ran; one run of all may be broken off, or never begin."""
    numbers = count(1)

    def make(name):
        def run(sinks, advance):
            made.append(name)
            number = next(numbers)
            outcome = measured(name, {"out_tps": 100.0 + number})
            if stop_at == -number:
                raise KeyboardInterrupt
            return replace(outcome, is_interrupted=number == stop_at)

        return run

    return {name: make(name) for name in names}


def test_engines_run_in_turn_and_each_has_all_of_its_runs():
    made = []
    found = make_runs(makes_of("a", "b", made=made), OutputFiles(NOTHING, 4), {}, repeats=2)
    assert made == ["a", "b", "a", "b"]
    assert [each.values("out_tps") for each in found.outcomes] == [[101.0, 103.0], [102.0, 104.0]]
    assert not found.is_broken_off


@pytest.mark.parametrize("stop_at", [3, -3], ids=["in the middle", "before it began"])
def test_a_repeat_that_is_broken_off_does_not_count_and_is_the_last(stop_at):
    made = []
    makes = makes_of("a", "b", made=made, stop_at=stop_at)
    found = make_runs(makes, OutputFiles(NOTHING, 6), {}, repeats=3)
    assert made == ["a", "b", "a"]
    assert [each.values("out_tps") for each in found.outcomes] == [[101.0], [102.0]]
    assert all(each.is_over for each in found.outcomes)
    assert found.is_broken_off


def test_a_first_run_that_is_broken_off_is_told_of():
    found = make_runs(makes_of("a", "b", made=[], stop_at=2), OutputFiles(NOTHING, 2), {})
    assert [each.is_interrupted for each in found.outcomes] == [False, True]
    assert found.is_broken_off


def test_a_complaint_of_every_run_is_said_once(capsys):
    def complain(sinks, advance):
        return replace(measured("a", {}), complaints=("too long",))

    make_runs({"a": complain}, OutputFiles(NOTHING, 3), {}, repeats=3)
    assert capsys.readouterr().err == "a: too long\n"


def test_every_run_is_recorded_to_a_file_of_its_own(tmp_path):
    def run(sinks, advance):
        for sink in sinks:
            sink.write(run_crowd(20))
        return measured("a", {})

    files = OutputFiles(Outputs(record=tmp_path / "run.jsonl"), 2)
    make_runs({"a": run}, files, {}, repeats=2)
    paths = sorted(tmp_path.iterdir())
    assert [path.name for path in paths] == ["run.a-run-2.jsonl", "run.a.jsonl"]
    for path in paths:
        kinds = [type(event) for event in Recording(path).events()]
        assert kinds[0] is Ready
        assert Arrived in kinds
