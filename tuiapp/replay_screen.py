"""`open_replay`: the live screen on a recording."""

from __future__ import annotations

from pathlib import Path

from engine.backends.replay import ReplayBackend
from engine.recording import Recording
from tuiapp.app import Playground
from tuiapp.library.replaying import replay_session
from tuiapp.preferences import Found


def open_replay(path: Path, own: Found) -> int:
    """Show a recording until the user leaves.

    Args:
        own: the looks and keys.

    Returns:
        The exit code.

    Raises:
        RecordingError: it cannot be read.
    """
    recording = Recording(path)
    backend = ReplayBackend(recording)
    app = Playground(replay_session(recording, backend), own=own)
    backend.start()
    try:
        app.run()
    finally:
        backend.stop()
    return app.return_code or 0
