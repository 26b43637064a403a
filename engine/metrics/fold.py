"""`Metrics`: reads events as they come, and sums up at any time."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence

from engine.events import (
    Arrived,
    Configured,
    Delivered,
    Event,
    Finished,
    Gauges,
    Keyframe,
    Ready,
    Step,
    Token,
)
from engine.metrics.passes import PassTotals
from engine.metrics.report import Report
from engine.metrics.service import report_service
from engine.metrics.slo import Slo
from engine.metrics.timing import Timing


class Metrics:
    """A fold over events; each costs the same, however many came before.

    Args:
        slo: what counts as good.
    """

    def __init__(self, slo: Slo | None = None) -> None:
        self._slo = slo or Slo()
        self._timings: dict[str, Timing] = {}
        self._gaps: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
        self._passes = PassTotals()
        self._last_delivery = 0.0

    def feed(self, events: Iterable[Event]) -> None:
        """Read on; requests whose arrival was never read are left out."""
        for event in events:
            self._feed(event)

    def report(self) -> Report:
        """Sum up what was read so far."""
        timings = list(self._timings.values())
        by_label = defaultdict(list)
        for timing in timings:
            by_label[timing.label].append(timing)
        first_arrival = min((timing.arrival for timing in timings), default=0.0)
        span = max(0.0, self._last_delivery - first_arrival)
        service = report_service(timings, self._pooled_gaps(), span, self._slo)
        return Report(
            span=span,
            service=service,
            by_label={
                label: report_service(some, self._gaps.get(label, ()), span, self._slo)
                for label, some in by_label.items()
            },
            passes=self._passes.report(span, service.num_completed, service.num_output_tokens),
        )

    def _pooled_gaps(self) -> Sequence[float]:
        """Those of all labels; of a single one without a copy, for there may be millions."""
        if len(self._gaps) == 1:
            return next(iter(self._gaps.values()))
        pooled = array("d")
        for gaps in self._gaps.values():
            pooled.extend(gaps)
        return pooled

    def _feed(self, event: Event) -> None:
        match event:
            case Ready(info=info):
                self._passes.begin(info)
            case Configured(settings=settings) | Keyframe(settings=settings):
                self._passes.configure(settings)
            case Step():
                self._passes.add(event)
            case Gauges():
                self._passes.read_power(event)
            case Arrived(request=request):
                self._timings[request.id] = Timing.of(request)
            case Token() | Delivered() | Finished():
                if timing := self._timings.get(event.request_id):
                    self._follow(event, timing)
            case _:
                pass

    def _follow(self, event: Token | Delivered | Finished, timing: Timing) -> None:
        if isinstance(event, Delivered):
            self._last_delivery = max(self._last_delivery, event.time)
        if (gap := timing.follow(event)) is not None:
            self._gaps[timing.label].append(gap)
