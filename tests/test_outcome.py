from dataclasses import replace

from tests.told import measured
from tuiapp.running.outcome import unite


def test_a_number_of_several_runs_is_the_middle_one():
    outcome = measured("a", {"out_tps": 90.0}, {"out_tps": 130.0}, {"out_tps": 100.0})
    assert (outcome.num_runs, outcome.value("out_tps")) == (3, 100.0)
    assert outcome.values("out_tps") == [90.0, 130.0, 100.0]
    assert measured("a", {"out_tps": 90.0}, {"out_tps": 130.0}).value("out_tps") == 110.0


def test_a_count_stays_a_whole_number():
    assert repr(measured("a", {"preemptions": 3}, {"preemptions": 4}).value("preemptions")) == "3"


def test_a_number_that_a_run_does_not_have_is_that_of_the_others():
    assert measured("a", {"tpot_p50_ms": None}, {"tpot_p50_ms": 7.0}).value("tpot_p50_ms") == 7.0
    assert measured("a", {"tpot_p50_ms": None}).value("tpot_p50_ms") is None


def test_of_runs_that_are_united_each_complaint_is_told_once():
    one = measured("a", {})
    first, second = replace(one, complaints=("x", "y")), replace(one, complaints=("y", "z"))
    assert unite([first, second]).complaints == ("x", "y", "z")


def test_one_run_that_failed_a_request_makes_the_whole_a_failure():
    sound = measured("a", {})
    service = replace(sound.report.service, num_failed=1)
    broken = replace(sound, report=replace(sound.report._report, service=service))
    assert not unite([sound, sound]).is_failed
    assert unite([sound, broken]).is_failed
