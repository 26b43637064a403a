"""`News`: what the engine has to say, told once: a toast, a modal, or the last word of the app."""

from __future__ import annotations

from rich.text import Text
from textual.screen import Screen

from tuiapp.screens.failure import FailureScreen
from tuiapp.session import Session
from tuiapp.snapshot import Notice, Snapshot
from tuiapp.text import clean

EXIT_FAILED, EXIT_USAGE = 1, 2


class News:
    """Toasts for refusals, a modal for failures."""

    def __init__(self, screen: Screen[None], session: Session) -> None:
        self._screen = screen
        self._session = session
        self._num_told = 0

    def skip(self, newest: Snapshot) -> None:
        """Take everything up to here as told."""
        self._num_told = newest.num_notices

    def tell(self, newest: Snapshot) -> None:
        """Tell what is new."""
        new = newest.num_notices - self._num_told
        self._num_told = newest.num_notices
        for notice in newest.notices[-new:] if new else ():
            self._announce(notice, newest)

    def _announce(self, notice: Notice, newest: Snapshot) -> None:
        screen, app = self._screen, self._screen.app
        if notice.is_fatal and newest.info is None:
            code = EXIT_USAGE if notice.is_usage else EXIT_FAILED
            app.exit(return_code=code, message=Text(f"batchscope: {clean(notice.message)}"))
        elif not notice.is_failure:
            screen.notify(notice.message, severity="warning", markup=False)
        elif notice.is_usage and not notice.is_fatal:
            self._session.settings = newest.settings
            screen.notify(notice.message, severity="error", markup=False)
        elif not isinstance(app.screen, FailureScreen):
            app.push_screen(FailureScreen(notice))
        elif notice.is_fatal:  # it outweighs the failure that is being told
            app.switch_screen(FailureScreen(notice))
