"""`Suspension`: engines stand still while the process does, or they would wake up hours later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from time import monotonic

from engine.backends.base import Backend
from tuiapp.session import Session

LONGEST_WAIT = 3.0  # seconds for the pass under way
GLANCE = 0.02  # seconds in which a clock that runs is seen to run


class Suspension:
    """Pauses what runs, and lets go on what it has paused, but nothing that a user paused."""

    def __init__(self) -> None:
        self._held: list[Backend] = []

    async def hold(self, sessions: Iterable[Session]) -> None:
        """Pause these, and wait for their clocks to stand.

        An engine that is not loaded yet is left alone: nothing arrives there before.
        """
        self._held = [each.backend for each in sessions if _runs(each)]
        for backend in self._held:
            backend.pause()
        deadline = monotonic() + LONGEST_WAIT
        for backend in self._held:
            before = None
            while before != (before := backend.now()) and monotonic() < deadline:
                await asyncio.sleep(GLANCE)

    def release(self) -> None:
        """Let what was held go on from where it stood."""
        held, self._held = self._held, []
        for backend in held:
            backend.resume()


def _runs(session: Session) -> bool:
    is_loaded = session.replay is not None or session.prompts is not None
    return is_loaded and not session.is_paused
