"""A kept run on a live screen of its own, over the engine's."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from engine.backends.replay import ReplayBackend
from engine.recording import Recording
from tuiapp.library.replaying import replay_session
from tuiapp.preferences import USUAL, Preferences
from tuiapp.screens.playback import PlaybackScreen
from tuiapp.view.rewind import open_log

OWN = ("q", "o")  # keys of the live screen that mean something else here, or nothing


class ReplayScreen(PlaybackScreen):
    """Plays until it is left; then the engine's own screen is there again.

    Args:
        at: the pass to hold, counted from 1; None plays from the beginning.

    Raises:
        RecordingError: the recording cannot be read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back", key_display="esc", tooltip="Leave the replay"),
        *(
            each
            for each in PlaybackScreen.BINDINGS
            if isinstance(each, Binding) and each.key not in OWN
        ),
    ]

    def __init__(self, path: Path, at: int | None = None, preferences: Preferences = USUAL) -> None:
        recording = Recording(path)
        self._playback = ReplayBackend(recording)
        session = replay_session(recording, self._playback)
        super().__init__(session, open_log(self._playback.log), preferences=preferences)
        if at is not None:
            session.toggle_pause()
            self._playback.seek_pass(at - 1)

    def on_mount(self) -> None:
        self._playback.start()

    def on_unmount(self) -> None:
        self._playback.stop()

    def action_leave(self) -> None:
        self.dismiss(None)
