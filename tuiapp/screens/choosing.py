"""`ChoosingScreen`: a screen on which a request can be chosen, and its life looked at."""

from __future__ import annotations

from textual import on

from tuiapp.keys import Keys
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.moments import MomentsScreen
from tuiapp.session import Session
from tuiapp.view.filtering import Filter
from tuiapp.view.rewind import Rewind
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.tracked import RequestView
from tuiapp.widgets.filter_bar import FilterBar
from tuiapp.widgets.live_view import LiveView
from tuiapp.widgets.picked import Picked


class ChoosingScreen(MomentsScreen):
    """The selection over slots and queue, by keys or with the mouse.

    Attributes:
        snapshot: the frame that is shown.
    """

    def __init__(self, session: Session, rewind: Rewind, view: LiveView, keys: Keys) -> None:
        super().__init__(session, rewind, keys)
        self._view = view
        self.snapshot = Snapshot(settings=session.settings)

    def action_select(self, rows: int) -> None:
        """Move the selection over the slots, then the queue."""
        ids = [view.id for view in self._views()]
        if not ids:
            return
        if self._view.selected in ids:
            index = ids.index(self._view.selected) + rows
        else:
            index = 0 if rows > 0 else len(ids) - 1
        self._view.selected = ids[max(0, min(len(ids) - 1, index))]
        self.draw_all()

    def action_inspect(self) -> None:
        views = self._views()
        chosen = self._view.selected or (views[0].id if views else None)
        if chosen:
            self._inspect(chosen)
        else:
            self.notify("There is no request to look at", timeout=2)

    def action_filter(self) -> None:
        """Type which requests to show."""
        self.query_one(FilterBar).open()

    def action_clear_filter(self) -> None:
        self.query_one(FilterBar).close()

    @on(FilterBar.Changed)
    def _filter(self, event: FilterBar.Changed) -> None:
        self._view.filter = Filter(event.text)
        if self._view.selected not in [view.id for view in self._views()]:
            self._view.selected = None
        self.refresh_bindings()
        self.draw_all()

    def _count_matches(self) -> None:
        """Say beside the filter how many there are."""
        if self._view.filter.text:
            count = f"{len(self._views())} of {len(self._everybody())}"
            self.query_one(FilterBar).count(f"{count}   enter keeps it, esc clears it")

    def _views(self) -> tuple[RequestView, ...]:
        """Of everybody who is on the screen, those that the filter shows."""
        return self._view.filter.among(self._everybody())

    def _everybody(self) -> list[RequestView]:
        """Who holds each slot or did last, as the panes show them, then the front of the queue."""
        snapshot = self.snapshot
        owners = (snapshot.owners(slot) for slot in range(len(snapshot.slots)))
        shown = [owner or last for owner, last in owners]
        ids = {view.id: view for view in (*shown, *snapshot.waiting) if view}
        return list(ids.values())

    @on(Picked)
    def inspect_picked(self, event: Picked) -> None:
        self._view.selected = event.request_id
        self._inspect(event.request_id)

    def _inspect(self, request_id: str) -> None:
        if self._rewind.request(request_id) is None:
            self.notify(f"{request_id} is no longer remembered", markup=False)
        else:
            screen = InspectScreen(self._rewind, self._session, request_id, self._view.filter)
            self.app.push_screen(screen, self._go_to)
