"""What a recording says of the run that it is of: its numbers, and its requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.config import ConfigError, build
from engine.events import Arrived, Checkpoint, Finished, Token
from engine.metrics import Metrics, Slo
from engine.recording import Recording
from engine.request import COMPLETE, Request
from tuiapp.running.headless import Sink, Tally
from tuiapp.running.outcome import Outcome

RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run, read back.

    Attributes:
        requests: by arrival, which counts from the first one.
        slo: what counted as good then.
        output_lengths: tokens of every answer that came to its end, by request.
    """

    title: str
    outcome: Outcome
    requests: tuple[Request, ...]
    labels: tuple[str, ...]
    slo: Slo
    output_lengths: Mapping[str, int]


def read_run(
    recording: Recording, slo: Slo | None = None, sinks: Sequence[Sink] = ()
) -> RecordedRun:
    """Read a recording from its beginning to its end.

    Args:
        slo: what counts as good; what did then if None.
        sinks: told every event.

    Raises:
        RecordingError: it is damaged.
    """
    slo = recorded_slo(recording) if slo is None else slo
    tally, requests = Tally(Metrics(slo)), []
    num_tokens, ended = Counter[str](), list[str]()
    for event in recording.events():
        if isinstance(event, Arrived):
            requests.append(event.request)
        elif isinstance(event, Token):
            num_tokens[event.request_id] += 1
        elif isinstance(event, Finished) and event.reason in COMPLETE:
            ended.append(event.request_id)
        if not isinstance(event, Checkpoint):
            for sink in (tally, *sinks):
                sink.write([event])
    outcome = Outcome(
        variant=RECORDED,
        settings=recording.settings,
        info=recording.info,
        report=tally.metrics.report(),
        complaints=tuple(tally.complaints),
        is_interrupted=not recording.index.is_closed,
    )
    title = str(recording.header.about.get("title") or recording.path.name)
    labels = tuple(dict.fromkeys(request.label for request in requests if request.label))
    lengths = {request_id: num_tokens[request_id] for request_id in ended}
    return RecordedRun(title, outcome, _from_zero(requests), labels, slo, lengths)


def recorded_slo(recording: Recording) -> Slo:
    """What counted as good when the recording was made.

    Raises:
        RecordingError: the header does not say it as it should.
    """
    table = recording.header.about.get("slo", {})
    place = f"{recording.path}:1"
    if not isinstance(table, dict):
        raise ConfigError(f"expected a table of objectives, got {table!r}", ("slo",), place)
    return build(Slo, table, place, ("slo",))


def _from_zero(requests: Sequence[Request]) -> tuple[Request, ...]:
    first = min((request.arrival for request in requests), default=0.0)
    shifted = (replace(request, arrival=request.arrival - first) for request in requests)
    return tuple(sorted(shifted, key=lambda request: request.arrival))
