"""What lanes are compared by, and from where on a difference is more than noise.

A simulation repeats itself exactly; a device does not. How much not is measured beside: by as much
as like passes took longer in one lane than in another, the lanes may differ for no reason of their
own, and so may their medians by a pass and their worst gaps by the longest hitch. After a single
run small differences count for nothing in any case; from the second on, a lane is ahead only where
its worst run is better than the other's best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from tuiapp.lanes.contender import Contender

LEVEL = 1.05  # a smaller ratio is no difference worth a word
SINGLE_LEVEL = 1.10  # nor, where a device was measured only once, is one below this
MARGIN = 1.05  # by which a difference must exceed what like passes differ by


@dataclass(frozen=True, slots=True)
class Measure:
    """What is compared, and how a difference in it is put into words."""

    metric: str
    subject: str
    brief: str
    better: str
    worse: str
    is_more_better: bool = False


GAP = Measure("itl_max_ms", "worst gap", "gap", "shorter", "longer")
MEASURES = (
    Measure("ttft_p50_ms", "median first token", "TTFT", "sooner", "later"),
    Measure("e2e_p50_ms", "median answer", "E2EL", "sooner", "later"),
    Measure("out_tps", "throughput", "tokens/s", "higher", "lower", is_more_better=True),
    GAP,
)


@dataclass(frozen=True, slots=True)
class Lead:
    """By how many times one lane is ahead of another in a measure; below 1 it is behind.

    Attributes:
        is_clear: it is more than noise.
    """

    measure: Measure
    ratio: float
    is_clear: bool


def leads(one: Contender, other: Contender) -> list[Lead]:
    """By how much the one is ahead, in every measure that both have; the largest first."""
    found = [lead for measure in MEASURES if (lead := _lead(one, other, measure))]
    return sorted(found, key=lambda lead: -lead.ratio)


def clear_leads(one: Contender, other: Contender) -> list[Lead]:
    """Those that are more than noise."""
    return [lead for lead in leads(one, other) if lead.is_clear]


def value(lane: Contender, measure: Measure) -> float | None:
    """The middle one of a lane's runs."""
    values = lane.values(measure.metric)
    return median(values) if values else None


def level(lanes: Sequence[Contender]) -> float:
    """The smallest ratio that counts between these lanes."""
    if all(lane.is_simulated for lane in lanes):
        return LEVEL
    least = SINGLE_LEVEL if any(lane.num_runs < 2 for lane in lanes) else LEVEL
    return max(least, MARGIN * drift(lanes))


def drift(lanes: Sequence[Contender]) -> float:
    """How many times as long like passes took in one lane as in another, at worst."""
    pairs = combinations(lanes, 2)
    return max((one.passes.drift(other.passes) for one, other in pairs), default=1.0)


def spread(lanes: Sequence[Contender]) -> float | None:
    """The largest share by which runs of one lane differ, but for their worst gaps.

    None before a lane has a second run. A gap is the worst of thousands: it differs the most.
    """
    repeated = [lane for lane in lanes if lane.num_runs > 1]
    metrics = [measure.metric for measure in MEASURES if measure is not GAP]
    runs = [values for lane in repeated for each in metrics if (values := lane.values(each))]
    return max((max(values) / min(values) - 1 for values in runs), default=None)


def tell_noise(lanes: Sequence[Contender], repeat: str = "") -> str:
    """The rule, in a line; nothing where no clock was involved.

    Args:
        repeat: what the user can do to have them repeated, as `r repeats them`.
    """
    if all(lane.is_simulated for lane in lanes):
        return ""
    share = spread(lanes)
    if share is None:
        hint = f"; {repeat}" if repeat else ""
        differed = f", like passes differed by {drift(lanes) - 1:.0%}"
        return f" One run each{differed}: below {level(lanes) - 1:.0%} counts as noise{hint}."
    fewest = min(lane.num_runs for lane in lanes)
    return f" Medians of {fewest} runs; those of a lane differ by up to {share:.0%}."


def _lead(one: Contender, other: Contender, measure: Measure) -> Lead | None:
    mine, theirs = value(one, measure), value(other, measure)
    if not mine or not theirs:
        return None
    ratio = mine / theirs if measure.is_more_better else theirs / mine
    is_clear = ratio >= level((one, other)) and not _overlap(one, other, measure)
    if not measure.is_more_better:
        is_clear = is_clear and theirs - mine > 1000 * _chance((one, other), measure)
    return Lead(measure, ratio, is_clear)


def _chance(lanes: Sequence[Contender], measure: Measure) -> float:
    """Seconds that a latency may take longer by chance: a pass, or for the worst gap a hitch."""
    measured = [lane.passes for lane in lanes if not lane.is_simulated]
    found = (each.longest_hitch() if measure is GAP else each.usual() for each in measured)
    return max(found, default=0.0)


def _overlap(one: Contender, other: Contender, measure: Measure) -> bool:
    """Whether a run of the one is no better than a run of the other."""
    mine, theirs = one.values(measure.metric), other.values(measure.metric)
    if measure.is_more_better:
        return min(mine) <= max(theirs)
    return max(mine) >= min(theirs)
