"""`ChoosingScreen`: a screen on which a request can be chosen, and its life looked at."""

from __future__ import annotations

from textual import on

from tuiapp.rewind import Rewind
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.moments import MomentsScreen
from tuiapp.session import Session
from tuiapp.snapshot import Snapshot
from tuiapp.widgets.live_view import LiveView
from tuiapp.widgets.timeline import Timeline


class ChoosingScreen(MomentsScreen):
    """The selection over slots and queue, by keys or with the mouse.

    Attributes:
        snapshot: the frame that is shown.
    """

    def __init__(self, session: Session, rewind: Rewind, view: LiveView) -> None:
        super().__init__(session, rewind)
        self._view = view
        self.snapshot = Snapshot(settings=session.settings)

    def action_select(self, rows: int) -> None:
        """Move the selection over the slots in use, then the queue."""
        views = [view for view in (*self.snapshot.slots, *self.snapshot.waiting) if view]
        ids = [view.id for view in views]
        if not ids:
            return
        if self._view.selected in ids:
            index = ids.index(self._view.selected) + rows
        else:
            index = 0 if rows > 0 else len(ids) - 1
        self._view.selected = ids[max(0, min(len(ids) - 1, index))]
        self.draw_all()

    def action_inspect(self) -> None:
        views = [view for view in (*self.snapshot.slots, *self.snapshot.waiting) if view]
        chosen = self._view.selected or (views[0].id if views else None)
        if chosen:
            self._inspect(chosen)

    @on(Timeline.Picked)
    def inspect_cell(self, event: Timeline.Picked) -> None:
        self._view.selected = event.request_id
        self._inspect(event.request_id)

    def _inspect(self, request_id: str) -> None:
        if self._rewind.request(request_id) is None:
            self.notify(f"{request_id} is no longer remembered", markup=False)
        else:
            screen = InspectScreen(self._rewind, self._session, request_id)
            self.app.push_screen(screen, self._go_to)
