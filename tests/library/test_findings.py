"""What a report finds in the events of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.events import Arrived, Delivered, Finished
from engine.request import FinishReason, Request, SamplingParams
from engine.runners.parts import ModelSpec
from engine.settings import BatcherName
from tests.library.builders import findings_of, opened, play
from tests.tui.stage import StageBackend, mixed_traffic
from tuiapp.explain.gaps import explain_gap
from tuiapp.library.findings import measure
from tuiapp.library.opening import open_live
from tuiapp.library.served import Requests
from tuiapp.library.subject import Subject
from tuiapp.running.verdicts import Ruling
from tuiapp.session import Session


def rulings(findings):
    return [verdict.ruling for verdict in findings.study.verdicts]


def test_a_run_is_named_after_the_engine_whose_settings_it_had():
    assert findings_of("dynamic")[0].subject.variant == "dynamic"
    assert findings_of()[0].subject.variant == "continuous"  # which is its own, spelled out


def test_the_numbers_are_those_of_the_headless_report():
    findings, _ = findings_of("static")
    service = findings.outcome.report.service
    assert (service.num_completed, service.num_requests) == (16, 16)
    assert findings.study.name == "straggler"
    assert len(findings.sketch.e2es) == len(findings.slowest) == 16


def test_the_slowest_request_comes_first():
    findings, _ = findings_of("continuous")
    slowest = findings.slowest[0]
    assert (slowest.id, slowest.num_prompt_tokens, slowest.num_output_tokens) == (
        "straggler",
        32,
        500,
    )
    assert slowest.e2e == pytest.approx(max(findings.sketch.e2es))


def test_who_still_waits_is_as_slow_as_it_has_waited_and_who_was_refused_is_not():
    requests = Requests()
    sampling = SamplingParams(max_tokens=1)
    for name, arrival in [("served", 0.0), ("refused", 0.1), ("waits", 2.0)]:
        requests.write([Arrived(arrival, Request(name, (1,), sampling, arrival))])
    requests.write([Finished(0.1, "refused", FinishReason.REJECTED)])
    requests.write([Delivered(3.0, "served", 1), Delivered(4.5, "other", 1)])
    assert [each.id for each in requests.slowest()] == ["served", "waits", "refused"]


def test_the_worst_gap_has_a_culprit():
    findings, _ = findings_of("continuous")
    assert findings.worst
    assert findings.worst.gap.seconds == pytest.approx(max(findings.sketch.gaps))
    assert "prefill tokens of late-short" in explain_gap(findings.worst.gap)


def test_an_answer_in_one_piece_has_no_gap():
    findings, _ = findings_of("static")
    assert findings.worst is None
    assert len(findings.tpots) == 0


def test_claims_are_judged_as_far_as_one_run_can():
    findings, _ = findings_of("static")
    assert rulings(findings) == [Ruling.HOLDS, Ruling.OPEN, Ruling.OPEN]


def test_claims_are_judged_beside_earlier_runs():
    others = {name: findings_of(name)[0].outcome.report for name in ("dynamic", "continuous")}
    findings = findings_of("static")[0].beside(others)
    assert rulings(findings) == [Ruling.HOLDS] * 3
    assert findings.judged_with == ("dynamic", "continuous")


def test_a_run_that_is_not_over_says_so_and_proves_nothing():
    findings = opened("static", num_passes=40).findings
    assert findings
    assert findings.outcome.is_interrupted
    assert findings.doubts == ("it is not over",)
    assert rulings(findings) == [Ruling.OPEN] * 3


def test_a_run_that_was_disturbed_is_not_held_against_the_claims():
    session, backend = play("static", num_passes=5)
    session.injector.inject([(1, 2, 3)], [session.injector.sampling(4, exact=True)])
    session.set_batcher(BatcherName.CONTINUOUS)
    backend.run(100_000)
    findings = open_live(session, backend.core.info, None).findings
    assert findings
    assert findings.doubts == (
        "the settings were changed while it ran",
        "1 other requests came in between",
    )
    assert rulings(findings) == [Ruling.OPEN] * 3


def test_requests_of_ones_own_make_a_report_too():
    backend = StageBackend()
    mixed_traffic(backend)
    backend.run(100_000)
    session = Session(backend, backend.core.settings)
    findings = open_live(session, backend.core.info, None).findings
    assert findings
    assert findings.subject.title == "requests of your own"
    assert findings.outcome.report.service.num_completed == 40
    assert findings.study.verdicts == ()


def test_nothing_is_found_where_nobody_asked():
    backend = StageBackend()
    assert measure(Subject("nothing"), backend.log.since(0)[0]) is None


def test_a_kept_run_says_what_to_build_its_engine_from():
    session, backend = play("static")
    session.spec = ModelSpec("qwen3-8b", "sim:h200", "bfloat16")
    findings = open_live(session, backend.core.info, None).findings
    assert findings
    told = {key: findings.about()[key] for key in ("model", "device", "dtype", "load_format")}
    assert told == {
        "model": "qwen3-8b",
        "device": "sim:h200",
        "dtype": "bfloat16",
        "load_format": "auto",
    }


def test_a_run_that_was_measured_with_the_screen_on_says_so():
    session, backend = play("static")
    findings = open_live(session, replace(backend.core.info, is_simulated=False), None).findings
    assert findings
    assert findings.about()["watched"]
    assert findings.subject.is_watched


def test_arrivals_at_another_speed_are_not_the_run_of_the_preset():
    session, backend = play("static", num_passes=5)
    session.change_speed(1)
    session.change_speed(-1)
    backend.run(100_000)
    findings = open_live(session, backend.core.info, None).findings
    assert findings
    assert findings.doubts == ("the requests arrived ×2 as fast",)
    assert findings.study.pace == 0.5
