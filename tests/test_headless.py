from pathlib import Path

import pytest

from engine.events import Arrived, Configured, Noted, Ready
from engine.log import EventLog
from engine.metrics import Metrics, Slo
from engine.request import Request
from engine.runners.parts import ModelSpec
from engine.settings import BatcherName, EngineSettings
from tuiapp.presets.parse import parse
from tuiapp.running.headless import Reader, Tally, run_preset

LINEAR = ModelSpec(device="sim:linear")
TEXT = """\
schema = 1
[preset]
id = "small"
title = "Small"
summary = "Four requests."
[[class]]
name = "chat"
count = 4
arrival = { kind = "constant", rate = 2.0 }
prompt = { kind = "fixed", value = 16 }
output = { kind = "fixed", value = 4 }
"""


def run(settings=None, **options):
    preset = parse(TEXT, Path("small.toml"))
    return run_preset(preset, "", settings or EngineSettings(), LINEAR, **options)


def test_a_run_serves_every_request_and_says_that_it_is_simulated():
    outcome = run()
    assert outcome.report.service.num_completed == 4
    assert outcome.report.service.num_output_tokens == 16
    assert outcome.info.is_simulated
    assert not outcome.is_failed


def test_a_run_reports_the_settings_that_it_had():
    outcome = run(settings=EngineSettings(batcher=BatcherName.STATIC))
    assert outcome.settings.batcher is BatcherName.STATIC
    assert outcome.settings.long_prefill_token_threshold == 512  # decided for the model


def test_progress_counts_requests_that_ended():
    seen = []
    run(on_progress=lambda done, total: seen.append((done, total)))
    assert list(dict.fromkeys(seen)) == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert len(seen) > 5, "it is told after every step, for whoever counts seconds"


def test_a_run_that_is_broken_off_reports_what_was_done():
    pressed = []

    def break_off(done, total):
        if done == 2 and not pressed:
            pressed.append("ctrl-c")
            raise KeyboardInterrupt

    outcome = run(on_progress=break_off)
    assert outcome.is_interrupted
    assert outcome.report.service.num_completed == 2
    assert not outcome.is_failed


def test_a_run_in_which_nothing_could_be_served_has_failed():
    outcome = run(settings=EngineSettings(max_model_len=8))
    assert outcome.is_failed
    assert outcome.report.service.num_rejected == 4
    assert outcome.complaints == ("16 prompt + 4 output tokens exceed the context of 8",)


def test_a_real_device_is_warmed_up_and_the_warm_up_does_not_count():
    preset = parse(TEXT, Path("small.toml"))
    outcome = run_preset(preset, "", EngineSettings(), ModelSpec(device="cpu"), pace=0.0)
    assert not outcome.info.is_simulated
    assert outcome.report.service.num_requests == 4
    assert outcome.report.service.num_output_tokens == 16
    assert outcome.report.passes.num_tokens == 4 * (16 + 3)


def test_gauges_that_cannot_be_read_are_told_once_and_the_run_goes_on(monkeypatch):
    def fail(device_uuid):
        raise PermissionError("/proc/stat is closed")

    monkeypatch.setattr("tuiapp.running.headless.make_telemetry", fail)
    told = Told()
    preset = parse(TEXT, Path("small.toml"))
    outcome = run_preset(
        preset, "", EngineSettings(), ModelSpec(device="cpu"), pace=0.0, sinks=[told]
    )
    problem = (
        "the device's gauges could not be read (PermissionError: /proc/stat is closed); tried again"
    )
    assert outcome.complaints == (problem,)
    assert [event.text for event in told if isinstance(event, Noted)] == [problem]
    assert not outcome.is_failed


def test_pace_stretches_the_time_between_arrivals():
    at_once, usual, slow = (run(pace=pace).report.span for pace in (0.0, 1.0, 2.0))
    assert at_once < 0.1
    assert usual == pytest.approx(1.5 + 4 * 0.012, abs=0.01)
    assert slow - usual == pytest.approx(1.5, abs=0.001)


def test_the_same_preset_gives_the_same_numbers():
    assert run().report == run().report


def test_a_reader_can_skip_what_does_not_count():
    log, seen = EventLog(), []
    tally = Tally(Metrics(), seen.append)
    reader = Reader(log, [tally])
    log.append(Arrived(0.0, Request("warm-up", (1,))))
    reader.skip()
    log.append(Arrived(0.0, Request("a", (1,))))
    reader.read()
    assert tally.metrics.report().service.num_requests == 1
    assert seen == [0]


class Told(list):
    """A sink that keeps what it was told."""

    def write(self, events):
        self.extend(events)


def test_sinks_are_told_every_event_but_those_of_the_warm_up():
    told = Told()
    preset = parse(TEXT, Path("small.toml"))
    outcome = run_preset(
        preset, "", EngineSettings(), ModelSpec(device="cpu"), pace=0.0, sinks=[told]
    )
    assert isinstance(told[0], Ready)
    assert isinstance(told[1], Configured)
    arrived = [event.request.id for event in told if isinstance(event, Arrived)]
    assert arrived == ["chat-0", "chat-1", "chat-2", "chat-3"]
    metrics = Metrics()
    metrics.feed(told)
    assert metrics.report() == outcome.report


def test_other_objectives_than_the_presets_can_be_set():
    assert run(slo=Slo(ttft_ms=1.0)).report.service.attainment == 0.0
    assert run(slo=Slo(ttft_ms=1000.0)).report.service.attainment == 1.0
