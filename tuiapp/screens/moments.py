"""`MomentsScreen`: a screen that can show any forward pass that is still in memory."""

from __future__ import annotations

from abc import abstractmethod
from time import monotonic

from textual.screen import Screen

from tuiapp.keys import Keys
from tuiapp.screens.compositor import SparingCompositor
from tuiapp.session import Session
from tuiapp.view.reverse import Reverse
from tuiapp.view.rewind import Rewind


class MomentsScreen(Screen[None]):
    """The actions that hold time, go through it pass by pass, and let a recording run backwards.

    Args:
        keys: to name where an action is told of.
    """

    def __init__(self, session: Session, rewind: Rewind, keys: Keys) -> None:
        super().__init__()
        self._compositor = SparingCompositor()
        self._keys = keys
        self._session = session
        self._rewind = rewind
        self._reverse = Reverse()

    @property
    def session(self) -> Session:
        """What is shown here: the engine's, or a recording's."""
        return self._session

    @abstractmethod
    def draw_all(self) -> None:
        """Show everything at once."""

    def action_pause(self) -> None:
        """Pause or go on; what runs backwards only stops."""
        if self._reverse.is_on:
            self._reverse.stop()
        else:
            self._session.toggle_pause()
        self.draw_all()

    def action_step(self, count: int) -> None:
        if not self._session.is_paused:
            self._session.toggle_pause()
        self._session.backend.step(count)
        self.action_follow()

    def _go_to(self, number: int | None) -> None:
        if number is not None:
            self._reverse.stop()
            self._rewind.go(number)
            self.draw_all()

    def action_rewind(self, passes: int) -> None:
        """Show an earlier pass, or a later one, and say so where there is none."""
        self._reverse.stop()
        wanted = (self._rewind.at or self._rewind.newest) + passes
        if not self._rewind.move(passes) and not self._seek_pass(wanted):
            self._tell_limit(is_back=passes < 0)
        self.draw_all()

    def _tell_limit(self, *, is_back: bool) -> None:
        """Say where memory ends, and at its newest end how to go on."""
        is_held = not is_back and self._rewind.newest > 0
        rest = f"; {self._keys['follow']} follows the engine again" if is_held else ""
        self.notify(f"{self._rewind.limit(is_back=is_back)}{rest}", timeout=3, markup=False)

    def action_jump(self, seconds: int) -> None:
        """Go on from another moment of a recording."""
        self._reverse.stop()
        if replay := self._session.replay:
            self._rewind.follow()
            replay.seek(max(0.0, replay.now() + seconds))

    def _seek_pass(self, number: int) -> bool:
        """In a recording, hold a pass, counted from 1, that is not in memory; False elsewhere."""
        replay = self._session.replay
        if not replay or number < 1:
            return False
        if not self._session.is_paused:
            self._session.toggle_pause()
        self._rewind.follow()
        replay.seek_pass(number - 1)
        return True

    def action_reverse(self) -> None:
        """Let a recording run backwards, at the speed of its playback."""
        if not self._session.is_paused:
            self._session.toggle_pause()
        self._reverse.start(monotonic())

    def _go_back(self) -> None:
        """Go back as far as is due while a recording runs backwards."""
        columns, speed = self._rewind.snapshot.columns, self._session.speed
        if passes := self._reverse.passes_due(columns, monotonic(), speed):
            wanted = max(1, (self._rewind.at or self._rewind.newest) - passes)
            if wanted == 1:
                self._reverse.stop()
            if not self._rewind.go(wanted):
                self._seek_pass(wanted)

    def action_home(self) -> None:
        self._reverse.stop()
        if self._seek_pass(1):
            return
        self._rewind.go(self._rewind.oldest)
        self._tell_limit(is_back=True)
        self.draw_all()

    def action_end(self) -> None:
        self._reverse.stop()
        self._rewind.go(self._rewind.newest)
        self.draw_all()

    def action_follow(self) -> None:
        self._reverse.stop()
        self._rewind.follow()
        self.draw_all()
