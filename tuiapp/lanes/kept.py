"""`open_kept`: recorded runs as the lanes of a comparison, which has nothing left to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from engine.config import ConfigError
from engine.events import Arrived, Keyframe, Ready
from engine.log import EventLog
from engine.recording import Recording
from engine.runners.parts import ModelSpec
from tuiapp.lanes.comparison import Comparison
from tuiapp.lanes.contest import Contest
from tuiapp.lanes.lane import Lane, Standing, Status
from tuiapp.lanes.traffic import RecordedTraffic, record_traffic
from tuiapp.library.alike import differences
from tuiapp.library.entry import Entry
from tuiapp.running.recorded import recorded_slo

SEEN = "both simulated"  # which the screen says anyway


def open_kept(entries: Sequence[Entry]) -> Comparison:
    """Read two to four runs of the library, in this order.

    Raises:
        ConfigError: a recording is damaged or not whole, or nothing had arrived in it.
    """
    lanes = [_open(name, entry) for name, entry in _name(entries).items()]
    found = [each for one, other in combinations(entries, 2) for each in differences(one, other)]
    presets = list(dict.fromkeys(entry.preset for entry in entries))
    contest = Contest(
        name=presets[0] if len(presets) == 1 else "kept runs",
        traffic=_traffic(lanes[0]),
        entries={lane.name: lane.settings for lane in lanes},
        mind=", ".join(each for each in dict.fromkeys(found) if each != SEEN),
    )
    return Comparison(contest, ModelSpec(), None, lanes)


def _name(entries: Sequence[Entry]) -> Mapping[str, Entry]:
    """What each is called: the engine, and when it ran where two have the same."""
    engines = [entry.engine for entry in entries]
    named: dict[str, Entry] = {}
    for entry in entries:
        is_alone = engines.count(entry.engine) == 1 and entry.engine
        when = entry.when.strftime("%b %d %H:%M:%S") if entry.when else entry.name
        named[entry.engine if is_alone else f"{entry.engine} {when}".strip()] = entry
    return named


def _open(name: str, entry: Entry) -> Lane:
    recording = Recording(entry.path)
    log, info, arrivals = EventLog(capacity=None), None, []
    for event in recording.events():
        log.append(event)
        if isinstance(event, Ready):
            info = event.info
        elif isinstance(event, Arrived):
            arrivals.append(event.request.arrival)
        elif isinstance(event, Keyframe) and len(event.requests) > len(arrivals):
            problem = "it begins in the middle of a run, and a lane needs all of it"
            raise ConfigError(problem, place=str(entry.path))
    if info is None or not arrivals:
        raise ConfigError("nothing had arrived in it", place=str(entry.path))
    lane = Lane(name, recording.settings, len(arrivals), recorded_slo(recording))
    lane.told = Standing(Status.OVER, log, info, recording.settings, min(arrivals))
    lane.read()
    return lane


def _traffic(lane: Lane) -> RecordedTraffic:
    log = lane.standing.log
    assert log, "a lane that was read has a log"
    return record_traffic(log, 0, lane.num_requests)
