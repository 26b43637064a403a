from pathlib import Path

import pytest

from engine.log import EventLog
from engine.recording import Recording, RecordingError
from tests.builders import without_checkpoints
from tests.recording.builders import run_crowd
from tuiapp.running.tap import Tap


def test_what_is_logged_meanwhile_is_recorded_once(tmp_path):
    log, events = EventLog(), run_crowd()
    tap = Tap(log, tmp_path / "run.jsonl", {"device": "sim"})
    for index, event in enumerate(events):
        log.append(event)
        if index % 50 == 0:
            tap.drain()
    tap.close()
    recording = Recording(tmp_path / "run.jsonl")
    assert list(without_checkpoints(recording.events())) == events
    assert recording.header.about == {"device": "sim"}
    assert recording.index.is_closed


def test_a_place_that_cannot_be_written_is_said_before_the_screen_opens(tmp_path):
    with pytest.raises(RecordingError, match="cannot be written"):
        Tap(EventLog(), tmp_path, {})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full here")
def test_once_the_disk_was_full_nothing_more_is_written(tmp_path):
    log = EventLog()
    tap = Tap(log, tmp_path / "run.jsonl", {})
    tap._writer._file.close()
    log.append(run_crowd(1)[0])
    with Path("/dev/full").open("wb", buffering=0) as full:
        tap._writer._file = full
        with pytest.raises(RecordingError, match="No space left on device"):
            tap.drain()
        tap.drain()
        tap.close()
