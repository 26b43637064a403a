"""A run on disk: whole, cut off, damaged, and read from the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine import record as engine_record
from engine.events import Checkpoint, Keyframe, Ready
from engine.recording import Recording, RecordingError, RecordingWriter
from tests.builders import without_checkpoints
from tests.recording.builders import record, run_crowd


@pytest.fixture
def frequent_keyframes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_record, "KEYFRAME_STEPS", 8)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def error_of(path: Path) -> str:
    with pytest.raises(RecordingError) as caught:
        list(Recording(path).events())
    return str(caught.value)


def test_a_recording_holds_what_was_logged_and_says_what_it_is_of(path):
    events = run_crowd()
    recording = record(path, events, {"preset": "crowd"})
    assert list(without_checkpoints(recording.events())) == events
    assert recording.header.about == {"preset": "crowd"}
    assert (recording.info.model, recording.settings.num_kv_blocks) == ("toy", 24)
    assert recording.duration == max(event.time for event in events)
    assert recording.index.is_closed


def test_it_can_be_written_bit_by_bit(path, tmp_path):
    events = run_crowd()
    record(tmp_path / "other.jsonl", events)
    writer = RecordingWriter(path, {})
    for event in events:
        writer.write([event])
    writer.close()
    assert path.read_bytes() == (tmp_path / "other.jsonl").read_bytes()


def test_closing_twice_is_harmless(path):
    writer = RecordingWriter(path, {})
    writer.write(run_crowd(3))
    writer.close()
    size = path.stat().st_size
    writer.close()
    assert path.stat().st_size == size


@pytest.mark.usefixtures("frequent_keyframes")
def test_every_mark_of_the_index_is_a_keyframe_with_a_checkpoint_behind_it(path):
    recording = record(path, run_crowd())
    marks = recording.index.marks
    assert len(marks) > 8
    for number, mark in enumerate(marks[1:], start=1):
        frame, point, *_ = recording.events(number)
        assert isinstance(frame, Keyframe)
        assert isinstance(point, Checkpoint)
        assert (frame.time, frame.index) == (mark.time, mark.index)
        assert [each.request_id for each in point.progress] == [r.id for r in frame.requests]
        line = path.read_bytes()[mark.offset :].split(b"\n")[0]
        assert path.read_bytes().split(b"\n")[mark.line - 1] == line


@pytest.mark.usefixtures("frequent_keyframes")
def test_a_moment_and_a_pass_are_found(path):
    index = record(path, run_crowd()).index
    assert index.before_time(-1.0) == 0
    assert index.before_time(17.5) == index.before_pass(16) == index.before_pass(23) == 3
    assert index.before_time(1e9) == len(index.marks) - 1


@pytest.mark.usefixtures("frequent_keyframes")
def test_without_an_index_it_is_rebuilt(path):
    whole = record(path, run_crowd())
    text = path.read_bytes()
    path.write_bytes(text[: whole.index.end])
    cut_off = Recording(path)
    assert cut_off.index.marks == whole.index.marks
    assert cut_off.duration == whole.duration
    assert not cut_off.index.is_closed
    assert list(cut_off.events()) == list(whole.events())


@pytest.mark.usefixtures("frequent_keyframes")
@pytest.mark.parametrize("share", [0.2, 0.5, 0.77, 0.999])
def test_a_file_that_was_cut_off_is_read_to_its_last_complete_line(path, share):
    whole = record(path, run_crowd())
    events, text = list(whole.events()), path.read_bytes()[: whole.index.end]
    kept = text[: int(len(text) * share)]
    path.write_bytes(kept)
    found = list(Recording(path).events())
    assert len(found) == kept.count(b"\n") - 1
    assert found == events[: len(found)]


@pytest.mark.parametrize("num_left_out", [1, 5, 30, 60])
def test_an_index_that_was_cut_off_is_rebuilt(path, num_left_out):
    whole = record(path, run_crowd())
    path.write_bytes(path.read_bytes()[:-num_left_out])
    cut_off = Recording(path)
    assert not cut_off.index.is_closed
    assert cut_off.index.marks == whole.index.marks
    assert list(cut_off.events()) == list(whole.events())


def test_a_damaged_line_is_named(path):
    record(path, run_crowd())
    lines = path.read_bytes().split(b"\n")
    lines[40] = lines[40].replace(b"[", b"<", 1)
    path.write_bytes(b"\n".join(lines))
    assert error_of(path).startswith(f"{path}:41: this is no record: ")


@pytest.mark.usefixtures("frequent_keyframes")
def test_a_damaged_line_is_named_from_the_middle_too(path):
    record(path, run_crowd())
    lines = path.read_bytes().split(b"\n")
    lines[-20] = b"!" + lines[-20][1:]
    path.write_bytes(b"\n".join(lines))
    recording = Recording(path)
    with pytest.raises(RecordingError) as caught:
        list(recording.events(recording.index.before_pass(40)))
    assert caught.value.place == f"{path}:{len(lines) - 19}"


def test_what_is_no_recording_is_refused(path):
    for text in ("", "hello\n", "[1]\n", '{"format": "other"}\n'):
        path.write_text(text)
        expected = f"{path}:1: this is no recording of batchscope; its first line has no header"
        assert error_of(path) == expected
    assert error_of(path.parent) == f"{path.parent}: cannot be read: Is a directory"
    assert error_of(path / "x").startswith(f"{path / 'x'}: cannot be read: ")


def test_a_later_format_is_refused(path):
    record(path, run_crowd())
    header, rest = path.read_text().split("\n", 1)
    table = json.loads(header)
    path.write_text(json.dumps(table | {"version": 2}) + "\n" + rest)
    assert error_of(path) == f"{path}:1: written in format 2; this batchscope reads 1"
    path.write_text(json.dumps(table | {"schema": [1]}) + "\n" + rest)
    assert error_of(path).startswith(f"{path}:1: the header is damaged")
    table["schema"]["Token"].append("logprob")
    path.write_text(json.dumps(table) + "\n" + rest)
    assert error_of(path).startswith(f"{path}:1: Token: unknown field 'logprob'")


def test_a_recording_without_an_engine_is_refused(path):
    record_of = [event for event in run_crowd() if not isinstance(event, Ready)]
    with pytest.raises(RecordingError) as caught:
        record(path, record_of)
    assert str(caught.value) == f"{path}:2: it does not begin with an engine and its settings"


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(RecordingError) as caught:
        RecordingWriter(tmp_path / "no" / "run.jsonl", {})
    message = f"{tmp_path / 'no' / 'run.jsonl'}: cannot be written: No such file or directory"
    assert str(caught.value) == message


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full here")
def test_a_full_disk_is_an_error_with_the_file():
    with pytest.raises(RecordingError, match="/dev/full: cannot be written: No space left"):
        RecordingWriter(Path("/dev/full"), {})


def test_a_run_that_is_killed_leaves_all_that_it_wrote(path):
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from engine.recording import RecordingWriter\n"
        "from tests.recording.builders import run_crowd\n"
        "writer = RecordingWriter(Path(sys.argv[1]), {})\n"
        "for event in run_crowd(): writer.write([event])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], env=os.environ | {"PYTHONPATH": "."})
    assert done.returncode == -signal.SIGKILL
    recording = Recording(path)
    assert not recording.index.is_closed
    assert list(without_checkpoints(recording.events())) == run_crowd()


def test_a_recording_may_begin_in_the_middle_of_a_run(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(engine_record, "KEYFRAME_STEPS", 8)
    events = run_crowd(40)
    at = [n for n, event in enumerate(events) if isinstance(event, Keyframe)][2]
    recording = record(tmp_path / "run.jsonl", [events[0], *events[at:]])
    assert recording.settings == events[at].settings
    assert recording.info == events[0].info
