"""`Traffic`: the requests of a comparison, which every lane gets anew and alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from engine.actions import Abort
from engine.events import Arrived, Event, Finished, Token
from engine.generate.script import Ask, Script
from engine.log import EventLog
from engine.prompts import PromptMaker
from engine.request import FinishReason, Request
from engine.workload import Workload
from tuiapp.presets import Preset


class Traffic(Protocol):
    """Requests, and a workload that lets them arrive once."""

    @property
    def num_requests(self) -> int: ...

    @property
    def is_paced_in_steps(self) -> bool:
        """Whether its times follow how long a decoding pass takes."""
        ...

    def requests(self, prompts: PromptMaker) -> Sequence[Request]:
        """Write them out in the engine's tokens.

        Raises:
            ConfigError: a length cannot be.
        """
        ...

    def workload(self, requests: Sequence[Request], pace: float) -> Workload:
        """Let those requests arrive, with all that happens beside them."""
        ...

    def rehearsal(self, requests: Sequence[Request], pace: float) -> Workload:
        """The same with outputs as long as they are likely to be, for who cannot know their end."""
        ...


@dataclass(frozen=True, slots=True)
class PresetTraffic:
    """What a preset plays, for the seed that it names."""

    preset: Preset

    @property
    def num_requests(self) -> int:
        return len(self.preset.drafts)

    @property
    def is_paced_in_steps(self) -> bool:
        return self.preset.about.is_paced_in_steps

    def requests(self, prompts: PromptMaker) -> Sequence[Request]:
        return self.preset.requests(prompts)

    def workload(self, requests: Sequence[Request], pace: float) -> Workload:
        return self.preset.workload(requests, pace=pace)

    def rehearsal(self, requests: Sequence[Request], pace: float) -> Workload:
        return self.workload(requests, pace)


@dataclass(frozen=True, slots=True)
class RecordedTraffic:
    """Requests that arrived on a live engine, and clients that went away.

    Attributes:
        recorded: with arrivals in seconds since the first of them.
        departures: in the same seconds.
        lengths: tokens of the outputs that have ended by themselves, by request.
        num_left_out: requests that arrived before these.
    """

    recorded: tuple[Request, ...]
    departures: tuple[Abort, ...] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)
    num_left_out: int = 0

    @property
    def num_requests(self) -> int:
        return len(self.recorded)

    @property
    def is_paced_in_steps(self) -> bool:
        return False

    def requests(self, prompts: PromptMaker) -> Sequence[Request]:
        return self.recorded

    def workload(self, requests: Sequence[Request], pace: float) -> Workload:
        return Script([Ask(request) for request in requests], self.departures)

    def rehearsal(self, requests: Sequence[Request], pace: float) -> Workload:
        known = [self._shorten(request) for request in requests]
        return self.workload(known, pace)

    def _shorten(self, request: Request) -> Request:
        sampling = request.sampling
        length = self.lengths.get(request.id)
        if length is None:
            share = 1.0 if sampling.ignore_eos else self._usual_share
            length = max(1, round(share * sampling.max_tokens))
        return replace(request, sampling=replace(sampling, max_tokens=length))

    @property
    def _usual_share(self) -> float:
        """What the outputs that ended by themselves took of what they could have been."""
        ended = [each for each in self.recorded if each.id in self.lengths]
        most = sum(each.sampling.max_tokens for each in ended)
        return sum(self.lengths[each.id] for each in ended) / most if most else 1.0


def record_traffic(log: EventLog, since: int, most: int) -> RecordedTraffic:
    """The last `most` requests that arrived after a position of a log, as they arrived."""
    events, _ = log.since(since)
    everybody = [event.request for event in events if isinstance(event, Arrived)]
    arrived = everybody[-most:]
    began = min((request.arrival for request in arrived), default=0.0)
    ids = {request.id for request in arrived}
    return RecordedTraffic(
        tuple(replace(request, arrival=request.arrival - began) for request in arrived),
        tuple(
            Abort(max(0.0, event.time - began), event.request_id)
            for event in events
            if isinstance(event, Finished)
            and event.reason is FinishReason.ABORT
            and event.request_id in ids
        ),
        _lengths(events),
        len(everybody) - len(arrived),
    )


def _lengths(events: Sequence[Event]) -> dict[str, int]:
    """How long the outputs were that ended where the model ended them."""
    counts = Counter(event.request_id for event in events if isinstance(event, Token))
    return {
        event.request_id: counts[event.request_id]
        for event in events
        if isinstance(event, Finished)
        and event.reason is FinishReason.STOP
        and counts[event.request_id]
    }
