"""`Contest`: which requests are compared, and under which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from engine.log import EventLog
from engine.metrics import Slo
from engine.settings import BatcherName, EngineSettings
from tuiapp.counting import counted
from tuiapp.lanes.traffic import PresetTraffic, RecordedTraffic, Traffic, record_traffic
from tuiapp.presets import Claim, Preset

MOST_REQUESTS = 48  # of a live engine's; more would take minutes, four times over
WHOLE = "whole prompts"


@dataclass(frozen=True, slots=True)
class Contest:
    """The same requests under several settings.

    Attributes:
        name: of the preset, or of what was run live.
        entries: settings by variant, in the order in which they run.
        claims: what the preset says that its variants show.
        mind: why the lanes do not compare as they should, if there is a reason.
        num_left_out: requests that came before these and are not repeated.
    """

    name: str
    traffic: Traffic
    entries: Mapping[str, EngineSettings]
    slo: Slo = field(default_factory=Slo)
    claims: tuple[Claim, ...] = ()
    mind: str = ""
    num_left_out: int = 0

    def tell_requests(self, *, is_brief: bool = False) -> str:
        """How many requests each lane gets, and of how many they are the last."""
        count = self.traffic.num_requests
        if self.num_left_out:
            return f"the last {count} of {counted(count + self.num_left_out, 'request')}"
        return f"{'' if is_brief else 'the same '}{counted(count, 'request')}"


def usual_entries(settings: EngineSettings) -> dict[str, EngineSettings]:
    """Every batcher, and continuous batching without chunks, with all else as it is."""
    entries = {each.value: replace(settings, batcher=each) for each in BatcherName}
    continuous = replace(entries[BatcherName.CONTINUOUS.value], enable_chunked_prefill=True)
    entries[BatcherName.CONTINUOUS.value] = continuous
    entries[WHOLE] = replace(continuous, enable_chunked_prefill=False)
    return entries


def contest_of_preset(
    preset: Preset, base: EngineSettings | None = None, *, is_usual: bool = False
) -> Contest:
    """A preset under what it compares, or under the usual four where it compares nothing.

    Args:
        base: what the preset changes.
        is_usual: take the usual four in any case.

    Raises:
        ConfigError: its settings do not go with `base`.
    """
    traffic = PresetTraffic(preset)
    if preset.variants and not is_usual:
        named = {each.name: preset.settings(each.name, base=base) for each in preset.variants}
        return Contest(preset.name, traffic, named, preset.slo, preset.claims)
    own = preset.settings(base=base)
    return Contest(preset.name, traffic, usual_entries(own), preset.slo)


def contest_of_log(log: EventLog, since: int, settings: EngineSettings) -> Contest | None:
    """What arrived after a position of a live engine's log; None if nothing did."""
    traffic: RecordedTraffic = record_traffic(log, since, MOST_REQUESTS)
    if not traffic.num_requests:
        return None
    return Contest(
        "as run live",
        traffic,
        usual_entries(settings),
        num_left_out=traffic.num_left_out,
    )
