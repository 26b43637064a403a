"""What is compared: whose requests, and under which settings."""

from __future__ import annotations

from dataclasses import replace

from engine.actions import Abort
from engine.request import SamplingParams
from engine.settings import BatcherName, EngineSettings
from tests.builders import ask
from tests.tui.lanes import SPEC, preset_of
from tests.tui.stage import StageBackend, mixed_traffic
from tuiapp.lanes import contest_of_log
from tuiapp.lanes.choose import choose_contest
from tuiapp.session import Session


def test_departures_are_part_of_what_is_repeated():
    backend = StageBackend()
    mixed_traffic(backend)
    backend.run(30)
    backend.abort("r3")
    contest = contest_of_log(backend.log, 0, EngineSettings())
    assert contest.traffic.departures == (Abort(backend.now(), "r3"),)


def test_of_many_requests_the_last_are_repeated_and_the_contest_says_so():
    backend = StageBackend()
    for number in range(136):
        backend.submit(ask(f"r{number}", max_tokens=2))
    contest = contest_of_log(backend.log, 0, EngineSettings())
    assert [each.id for each in contest.traffic.recorded][::47] == ["r88", "r135"]
    assert contest.tell_requests() == "the last 48 of 136 requests"
    assert contest.tell_requests(is_brief=True) == "the last 48 of 136 requests"


def test_of_few_requests_all_are_repeated():
    backend = StageBackend()
    backend.submit(ask("r0"))
    backend.submit(ask("r1"))
    assert contest_of_log(backend.log, 0, EngineSettings()).tell_requests() == (
        "the same 2 requests"
    )


def test_what_is_compared_is_the_preset_that_plays_or_what_has_arrived():
    backend = StageBackend()
    session = Session(backend, backend.core.settings, spec=SPEC)
    assert choose_contest(session) is None
    session.injector.burst()
    assert choose_contest(session).traffic.num_requests == 24
    session.play_preset(preset_of())
    assert list(choose_contest(session).entries) == ["static", "continuous"]
    backend.run(3)
    session.injector.inject([(1, 2, 3)], [SamplingParams(max_tokens=3)])
    assert choose_contest(session).traffic.num_requests == 3


def test_the_usual_four_differ_from_the_settings_in_the_batcher_alone():
    own = EngineSettings(num_kv_blocks=300, enable_chunked_prefill=False)
    backend = StageBackend()
    backend.submit(ask())
    entries = contest_of_log(backend.log, 0, own).entries
    assert entries["static"] == replace(own, batcher=BatcherName.STATIC)
    assert entries["continuous"] == replace(own, enable_chunked_prefill=True)
    assert entries["whole prompts"] == own
