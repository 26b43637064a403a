"""Runs on disk: every event of a log as a line of JSON. README.md here describes the format."""

from __future__ import annotations

from engine.recording.kinds import RecordingError
from engine.recording.reader import Recording
from engine.recording.writer import RecordingWriter

__all__ = ["Recording", "RecordingError", "RecordingWriter"]
