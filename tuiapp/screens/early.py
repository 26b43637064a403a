"""`EarlyOrders`: what is asked of an engine that is not there yet, done once it is."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.screen import Screen

from tuiapp.screens.live_keys import LOADED_ACTIONS
from tuiapp.session import Session
from tuiapp.view.snapshot import Snapshot


class EarlyOrders:
    """One for a live screen, whose keys are there before its model.

    Args:
        on_ready: called once when the engine takes requests, or the recording has begun.
    """

    def __init__(
        self, screen: Screen[None], session: Session, on_ready: Callable[[Session], None]
    ) -> None:
        self._screen = screen
        self._session = session
        self._on_ready: Callable[[Session], None] | None = on_ready
        self._actions: list[str] = []

    def is_early(self, action: str) -> bool:
        """Whether there is nobody to do this yet."""
        is_loading = self._on_ready is not None and not self._session.replay
        return is_loading and action in LOADED_ACTIONS

    def keep(self, event: events.Key) -> None:
        """Keep what a key asks for, and say so, if there is nobody to do it yet."""
        active = self._screen.active_bindings.get(event.key)
        if not self._on_ready or not active or active.enabled:
            return
        if active.binding.action.partition("(")[0] not in LOADED_ACTIONS:
            return
        self._actions.append(active.binding.action)
        what = active.binding.tooltip or active.binding.description
        told = f"{what}: as soon as the model is loaded"
        self._screen.notify(told, timeout=3, markup=False)
        event.stop()

    def poll(self, newest: Snapshot) -> None:
        """Begin as soon as the engine is there, with what was asked for meanwhile."""
        if not self._on_ready or not self._is_loaded(newest):
            return
        ready, self._on_ready = self._on_ready, None
        self._session.settle(newest.settings)
        ready(self._session)
        self._screen.call_later(self._catch_up)

    def _is_loaded(self, newest: Snapshot) -> bool:
        """Whether the engine takes requests, or the recording has begun."""
        is_there = self._session.replay or self._session.prompts
        return newest.info is not None and bool(is_there)

    async def _catch_up(self) -> None:
        """Do what was asked for while the model loaded, in that order."""
        self._screen.refresh_bindings()
        early, self._actions = self._actions, []
        for action in early:
            await self._screen.run_action(action)
