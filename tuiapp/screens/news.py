"""`News`: what the engine has to say, told once: a toast, a modal, or the last word of the app."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from rich.text import Text
from textual.screen import Screen

from tuiapp.keys import Keys
from tuiapp.screens.failure import FailureScreen
from tuiapp.session import Session
from tuiapp.text import clean
from tuiapp.view.snapshot import Notice, Snapshot

EXIT_FAILED, EXIT_USAGE = 1, 2
ADVICE = (
    "\nThe model could not be loaded. What always loads: batchscope --model tiny --device cpu; "
    "what needs no model at all: batchscope --device sim"
)
REFUSALS_EVERY = 5.0  # seconds, as long as a toast stays: they do not pile up over the screen


class News:
    """Toasts for refusals, one for all that came since the last; a modal for failures.

    Args:
        now: seconds of a clock that people live by.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: Session,
        keys: Keys,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._screen = screen
        self._session = session
        self._keys = keys
        self._now = now
        self._num_told = 0
        self._last_refusal: Notice | None = None
        self._num_refusals = 0
        self._refused_at = -REFUSALS_EVERY
        self._has_told_hold = False

    def skip(self, newest: Snapshot) -> None:
        """Take everything up to here as told."""
        self._num_told = newest.num_notices

    def tell(self, newest: Snapshot) -> None:
        """Tell what is new."""
        new = newest.num_notices - self._num_told
        self._num_told = newest.num_notices
        notices = newest.notices[-new:] if new else ()
        for notice in notices:
            if notice.is_refusal:
                self._last_refusal = notice
                self._num_refusals += 1
            else:
                self._announce(notice, newest)
        if self._num_refusals:
            self._num_refusals += new - len(notices)  # only refusals outnumber what is kept
            self._tell_refusals()
        self._tell_hold()

    def _tell_hold(self) -> None:
        """Say once that this machine is slower than what arrives, and what follows from that."""
        held_at = self._session.held_at
        if held_at is None or self._has_told_hold:
            return
        self._has_told_hold = True
        message = (
            f"This machine answers no more under these settings: the gentle mix holds back at "
            f"{held_at} open requests. {self._keys['faster']} lets more come."
        )
        self._screen.notify(message, timeout=8, markup=False)

    def _tell_refusals(self) -> None:
        """One toast for those since the last one, once that has gone."""
        now = self._now()
        if self._last_refusal is None or now - self._refused_at < REFUSALS_EVERY:
            return
        others = f" (and {self._num_refusals - 1} more)" if self._num_refusals > 1 else ""
        message = f"{self._last_refusal.message}{others}"
        self._screen.notify(message, severity="warning", markup=False, timeout=REFUSALS_EVERY)
        self._last_refusal, self._num_refusals, self._refused_at = None, 0, now

    def _announce(self, notice: Notice, newest: Snapshot) -> None:
        screen, app = self._screen, self._screen.app
        if notice.is_fatal and newest.info is None:
            code = EXIT_USAGE if notice.is_usage else EXIT_FAILED
            advice = "" if notice.is_usage else ADVICE
            text = f"batchscope: {clean(notice.message)}{advice}"
            app.exit(return_code=code, message=Text(text))
        elif not notice.is_failure:
            screen.notify(notice.message, severity="warning", markup=False)
        elif notice.is_usage and not notice.is_fatal:
            self._session.settings = newest.settings
            screen.notify(notice.message, severity="error", markup=False)
        elif not isinstance(app.screen, FailureScreen):
            app.push_screen(FailureScreen(notice))
        elif notice.is_fatal:  # it outweighs the failure that is being told
            app.switch_screen(FailureScreen(notice))
