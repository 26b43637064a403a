"""Moving through a recording, and the backend that does it on a thread."""

from __future__ import annotations

import time

import pytest

from engine import record as engine_record
from engine.backends.base import Backend
from engine.backends.player import Player
from engine.backends.replay import ReplayBackend
from engine.events import Checkpoint, Failed, Keyframe, Ready, Step
from engine.recording import Recording
from tests.builders import without_checkpoints
from tests.recording.builders import record, run_crowd
from tuiapp.view.rewind import open_log
from tuiapp.view.viewmodel import ViewModel

PASSES = 70  # every pass of the crowd takes a second


@pytest.fixture
def recording(tmp_path, monkeypatch) -> Recording:
    monkeypatch.setattr(engine_record, "KEYFRAME_STEPS", 8)
    return record(tmp_path / "run.jsonl", run_crowd(PASSES))


@pytest.fixture
def player(recording) -> Player:
    player = Player(recording)
    player.pause()
    return player


def passes_of(player: Player) -> list[int]:
    events, _ = player.log.since(0)
    return [event.index for event in events if isinstance(event, Step) and event.rows]


def shown(log, at=None):
    """The frame that the screen would draw of a log."""
    rewind = open_log(log)
    rewind.poll(0.0)
    return rewind.snapshot


def test_it_begins_with_what_happened_before_time_went_by(player):
    player.play(1000)
    events, _ = player.log.since(0)
    assert isinstance(events[0], Ready)
    assert all(event.time == 0.0 for event in events)
    assert passes_of(player) == []


def test_a_step_plays_one_forward_pass(player):
    player.step(1)
    assert (passes_of(player), player.now()) == ([0], 1.0)
    player.step(3)
    assert (passes_of(player), player.now()) == ([0, 1, 2, 3], 4.0)


def test_it_steps_while_paused_only(player):
    player.resume()
    player.step(5)
    assert passes_of(player) == []


def test_all_that_was_recorded_comes_in_its_order(player, recording):
    player.step(10_000)
    assert player.log.since(0)[0] == list(recording.events())
    assert player.now() == recording.duration
    assert player.play(10) is None


def test_no_more_than_a_limit_is_played_in_a_turn_and_time_waits_for_it(recording):
    player = Player(recording)
    player.set_speed(1e9)
    while player.play(7) is not None:
        assert len(player.log) % 7 == 0
    assert player.log.since(0)[0] == list(recording.events())


def test_a_seek_shows_the_moment_as_if_it_had_been_played_up_to_it(player, recording):
    for moment in (0, 3, 30, 31, 64, 12, 2):
        player.seek(float(moment))
        assert player.now() == moment
        assert passes_of(player)[-1:] == ([moment - 1] if moment else [])
        played = Player(recording)
        played.pause()
        played.play(1000)
        played.step(moment)
        there, sought = shown(played.log), shown(player.log)
        assert sought.slots == there.slots
        assert sought.waiting == there.waiting
        assert sought.block_owners == there.block_owners
        assert sought.settings == there.settings
        assert sought.num_passes == there.num_passes
        assert sought.meters.num_finished == there.meters.num_finished
        assert sought.meters.num_preemptions == there.meters.num_preemptions


def test_a_log_in_the_middle_begins_with_all_that_a_reader_needs(player):
    player.seek(50.0)
    ready, frame, point, *_ = player.log.since(0)[0]
    assert isinstance(ready, Ready)
    assert isinstance(frame, Keyframe)
    assert isinstance(point, Checkpoint)
    assert passes_of(player) == list(range(frame.index, 50))


def test_a_pass_is_found_by_its_number(player):
    for index in (40, 0, 69, 23):
        player.seek_pass(index)
        assert passes_of(player)[-1] == index
        assert player.now() == index + 1.0
        player.step(1)
        assert passes_of(player)[-1] == min(index + 1, 69)


def test_a_seek_beyond_either_end_stops_there(player, recording):
    player.seek(1e9)
    assert player.now() == recording.duration
    assert player.log.since(0)[0][-1] == list(recording.events())[-1]
    player.seek(-5.0)
    assert player.now() == 0.0
    assert passes_of(player) == []


def test_what_was_sought_can_be_rewound_to_where_its_log_begins(player):
    player.seek(60.0)
    rewind = open_log(player.log)
    rewind.poll(0.0)
    first = rewind.oldest
    assert 30 < first < 50
    assert rewind.go(first)
    assert rewind.snapshot.num_passes == first
    assert not rewind.go(first - 1)


def test_a_view_model_reads_a_whole_recording_as_it_reads_the_log_itself(player, recording):
    player.step(10_000)
    engine_log = Player(recording).log
    for event in without_checkpoints(recording.events()):
        engine_log.append(event)
    assert ViewModel(player.log).poll(99.0) == ViewModel(engine_log).poll(99.0)


def wait_until(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


@pytest.fixture
def backend(recording):
    backend = ReplayBackend(recording)
    yield backend
    backend.stop()


def test_a_replay_is_a_backend(backend):
    as_backend: Backend = backend
    assert as_backend.tokenizer is None


def test_a_replay_plays_to_the_end_at_any_speed(backend, recording):
    backend.set_speed(1000.0)
    backend.start()
    wait_until(lambda: len(backend.log) == len(list(recording.events())))
    assert backend.now() == recording.duration


def test_a_paused_replay_stands_and_can_be_sent_elsewhere(backend):
    backend.pause()
    backend.step(4)
    backend.start()
    wait_until(lambda: backend.now() == 4.0)
    backend.seek(33.0)
    wait_until(lambda: backend.now() == 33.0)
    log = backend.log
    backend.seek_pass(9)
    wait_until(lambda: backend.now() == 10.0)
    assert backend.log is not log


def test_a_damaged_line_ends_the_replay_and_is_said(recording, tmp_path):
    lines = recording.path.read_bytes().split(b"\n")
    lines[60] = b"?" + lines[60]
    recording.path.write_bytes(b"\n".join(lines))
    backend = ReplayBackend(Recording(recording.path))
    backend.set_speed(1000.0)
    backend.start()
    wait_until(
        lambda: backend.log.since(0)[0][-1:] and isinstance(backend.log.since(0)[0][-1], Failed)
    )
    failed = backend.log.since(0)[0][-1]
    assert failed.is_fatal
    assert failed.message.startswith(f"{recording.path}:61: ")
    backend.stop()


def test_stopping_twice_is_harmless(backend):
    backend.start()
    backend.stop()
    backend.stop()
