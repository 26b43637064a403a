"""`Register`: which requests are live, and which ids were in use lately."""

from __future__ import annotations

from collections import OrderedDict

from engine.request import Sequence

REMEMBERED = 65_536


class Register:
    """Tells requests apart by their ids.

    An id belongs to one request for as long as that is live and until `REMEMBERED` others have
    ended after it. So an engine that runs for weeks does not grow.
    """

    def __init__(self) -> None:
        self._live: dict[str, Sequence] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()  # the oldest first

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._live or request_id in self._ended

    def add(self, seq: Sequence) -> None:
        """A request has come."""
        self._live[seq.id] = seq

    def end(self, seq: Sequence) -> None:
        """A request has finished, for whatever reason."""
        del self._live[seq.id]
        self._ended[seq.id] = None
        if len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)

    def find(self, request_id: str) -> Sequence | None:
        """The live request of that name, or None."""
        return self._live.get(request_id)
