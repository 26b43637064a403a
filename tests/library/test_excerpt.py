"""The events of one run, out of a log that holds more."""

from __future__ import annotations

from pathlib import Path

from engine.events import Arrived, Configured, Finished, Keyframe, Played, Ready
from engine.log import EventLog
from engine.recording import Recording
from engine.request import Request, SamplingParams
from tests.library.builders import play, straggler
from tests.recording.builders import record
from tests.tui.stage import StageBackend, mixed_traffic
from tuiapp.library.excerpt import excerpt
from tuiapp.running.recorded import read_run
from tuiapp.session import Session
from tuiapp.view.rewind import open_log


def kinds(events):
    return [type(event) for event in events]


def test_a_run_that_began_with_the_engine_is_the_whole_log():
    backend = StageBackend()
    mixed_traffic(backend)
    backend.run(30)
    found = excerpt(backend.log, 0, backend.core.info)
    assert found.is_whole
    assert list(found.events) == backend.log.since(0)[0]


def test_a_later_run_begins_with_its_settings_and_holds_nothing_of_those_before():
    backend = StageBackend(num_kv_blocks=4096)
    mixed_traffic(backend)
    backend.run(30)
    session, _ = play("static", backend=backend)
    assert session.playing
    found = excerpt(backend.log, session.playing.position, backend.core.info)
    assert kinds(found.events[:2]) == [Ready, Configured]
    arrived = {event.request.id for event in found.events if isinstance(event, Arrived)}
    assert arrived == {draft.id for draft in straggler().drafts}
    assert {e.request_id for e in found.events if isinstance(e, Finished)} == arrived
    assert kinds(found.events).count(Played) == 1


def test_a_later_run_can_be_recorded_and_shown_by_itself(tmp_path: Path):
    backend = StageBackend(num_kv_blocks=4096)
    mixed_traffic(backend)
    backend.run(30)
    session, _ = play("static", backend=backend)
    assert session.playing
    found = excerpt(backend.log, session.playing.position, backend.core.info)
    recording = record(tmp_path / "run.jsonl", list(found.events))
    assert read_run(recording).outcome.report.service.num_completed == 16
    log = EventLog()
    for event in recording.events():
        log.append(event)
    snapshot = open_log(log).poll(0.0)
    assert snapshot.meters.num_finished == 16
    assert set(snapshot.block_owners) == {None}


def test_a_run_whose_beginning_is_forgotten_begins_at_the_oldest_keyframe(tmp_path: Path):
    log = EventLog(capacity=4096)
    backend = StageBackend(log=log, num_kv_blocks=4096)
    for number in range(300):
        sampling = SamplingParams(max_tokens=40)
        backend.submit(Request(f"r{number}", (3,) * 20, sampling))
    backend.run(100_000)
    assert log.first > 0
    found = excerpt(log, 0, backend.core.info)
    assert not found.is_whole
    assert kinds(found.events[:2]) == [Ready, Keyframe]
    recording = record(tmp_path / "run.jsonl", list(found.events))
    assert recording.settings == backend.core.settings
    run = read_run(Recording(recording.path))
    assert run.outcome.report.passes.kv_peak is not None


def test_before_the_engine_has_the_settings_there_is_nothing_of_a_run():
    backend = StageBackend()
    session = Session(backend, backend.core.settings)
    found = excerpt(backend.log, len(backend.log), backend.core.info)
    assert session.playing is None
    assert found.events == ()
