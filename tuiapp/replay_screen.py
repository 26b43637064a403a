"""`open_replay`: the live screen on a recording."""

from __future__ import annotations

from pathlib import Path

from engine.backends.replay import ReplayBackend
from engine.recording import Recording
from tuiapp.app import Playground
from tuiapp.session import Session
from tuiapp.text import one_line


def open_replay(path: Path, *, ascii_only: bool) -> int:
    """Show a recording until the user leaves.

    Returns:
        The exit code.

    Raises:
        RecordingError: it cannot be read.
    """
    recording = Recording(path)
    backend = ReplayBackend(recording)
    app = Playground(replay_session(recording, backend), ascii_only=ascii_only)
    backend.start()
    try:
        app.run()
    finally:
        backend.stop()
    return app.return_code or 0


def replay_session(recording: Recording, backend: ReplayBackend) -> Session:
    """A session that can look but not touch."""
    session = Session(backend, recording.settings, replay=backend)
    session.workload = one_line(f"replay of {recording.path.name}")
    return session
