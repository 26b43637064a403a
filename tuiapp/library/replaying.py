"""A session that plays a recording, which can be looked at but not touched."""

from __future__ import annotations

from engine.backends.replay import ReplayBackend
from engine.recording import Recording
from tuiapp.session import Session
from tuiapp.text import one_line


def replay_session(recording: Recording, backend: ReplayBackend) -> Session:
    """A session that can look but not touch."""
    session = Session(backend, recording.settings, replay=backend)
    session.workload = one_line(f"replay of {recording.path.name}")
    session.recording = recording.path
    return session
