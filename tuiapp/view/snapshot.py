"""`Snapshot`: all that one frame shows, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.events import EngineInfo, Gauges
from engine.plan import Skip
from engine.settings import EngineSettings
from tuiapp.view.columns import Column
from tuiapp.view.tracked import RequestView
from tuiapp.view.windows import Percentiles, percentiles

DEFAULTS = EngineSettings()


@dataclass(frozen=True, slots=True)
class Meters:
    """The numbers of the moment; windows are those of `tuiapp.view.windows`.

    Attributes:
        throughput: output tokens a second.
        held_share, useful_share: 0 to 1.
        ttfts, gaps: seconds from arrival to first delivery, and between two, of the last ones.
        num_looked_up, num_hit: tokens of new requests that the prefix cache was asked for, and
            those that it held.
    """

    throughput: float = 0.0
    throughput_trend: tuple[float, ...] = ()
    num_busy: int = 0
    held_share: float = 0.0
    useful_share: float = 1.0
    num_used_blocks: int = 0
    num_waiting: int = 0
    queue_trend: tuple[float, ...] = ()
    ttfts: tuple[float, ...] = ()
    gaps: tuple[float, ...] = ()
    num_finished: int = 0
    num_preemptions: int = 0
    num_looked_up: int = 0
    num_hit: int = 0

    @property
    def ttft(self) -> Percentiles | None:
        """Worked out when asked for, since few frames show it; None while nothing was delivered."""
        return percentiles(self.ttfts)

    @property
    def itl(self) -> Percentiles | None:
        """The same between two deliveries."""
        return percentiles(self.gaps)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell the user once.

    Attributes:
        is_failure: it deserves a modal, not a toast.
        is_refusal: of a request; under pressure these come by the dozen.
    """

    message: str
    is_failure: bool = False
    is_fatal: bool = False
    is_usage: bool = False
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One frame. Immutable, so a widget can compare it and hold on to it.

    Attributes:
        time: seconds on the engine's clock.
        slots: what each slot holds after the last pass, None where it is free.
        left: who held each slot last, once it was given up; None where nobody did yet.
        waiting: the front of the queue.
        line: the ids of all who wait, in the order of the queue.
        block_owners: request id by block, None where a block is free.
        block_sharing: how many hold a block, where it is more than one.
        cached_blocks: those that a request with the right beginning would share.
        num_notices: notices ever made; `notices` holds the last of them.
        num_played: workloads that have come to their end.
    """

    time: float = 0.0
    num_passes: int = 0
    info: EngineInfo | None = None
    settings: EngineSettings = DEFAULTS
    columns: tuple[Column, ...] = ()
    slots: tuple[RequestView | None, ...] = ()
    left: tuple[RequestView | None, ...] = ()
    waiting: tuple[RequestView, ...] = ()
    line: tuple[str, ...] = ()
    skipped: tuple[Skip, ...] = ()
    block_owners: tuple[str | None, ...] = ()
    block_sharing: Mapping[int, int] = field(default_factory=dict)
    cached_blocks: frozenset[int] = frozenset()
    meters: Meters = Meters()
    gauges: Gauges | None = None
    last_preempted: str | None = None
    notices: tuple[Notice, ...] = ()
    num_notices: int = 0
    num_played: int = 0

    @property
    def num_blocks(self) -> int:
        return len(self.block_owners)

    def owners(self, slot: int) -> tuple[RequestView | None, RequestView | None]:
        """Who holds a slot, and who did last before it became free."""
        if slot >= len(self.slots):
            return None, None
        return self.slots[slot], self.left[slot]

    def find(self, request_id: str) -> RequestView | None:
        """A request that runs or waits near the front, or None."""
        views = (*self.slots, *self.waiting)
        return next((view for view in views if view and view.id == request_id), None)
