"""`Playground`: the Textual application around one engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tuiapp.screens.live import LiveScreen
from tuiapp.session import Session
from tuiapp.theme import DARK, DARK_INKS, LIGHT
from tuiapp.viewmodel import ViewModel

SWITCH_INTERVAL = 0.0005  # seconds; launching a model is many short calls, and the screen waits


class Playground(App[int]):
    """One engine, the live screen, and what opens over it.

    Args:
        session: the engine and what the user asked of it.
        on_ready: called once when the engine takes requests, to start the traffic.
        ascii_only: draw with ASCII alone.
    """

    TITLE = "batchscope"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
    ]
    CSS_PATH = "screens/live.tcss"

    def __init__(
        self,
        session: Session,
        on_ready: Callable[[Session], None] = lambda session: None,
        *,
        ascii_only: bool = False,
    ) -> None:
        super().__init__()
        self.session = session
        self.ascii_only = ascii_only
        self.viewmodel = ViewModel(session.backend.log)
        self._on_ready = on_ready
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return DARK_INKS

    def get_default_screen(self) -> Screen[None]:
        return LiveScreen(self.session, self.viewmodel, self._on_ready, ascii_only=self.ascii_only)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Everything that has a key, and Textual's own commands but for its screenshot."""
        for active in screen.active_bindings.values():
            if isinstance(active.node, LiveScreen) and active.binding.description:
                run = partial(screen.run_action, active.binding.action)
                yield SystemCommand(active.binding.description, active.binding.tooltip, run)
        yield from (c for c in super().get_system_commands(screen) if c.title != "Screenshot")
