"""Who wins a comparison, by how much, and at what price: one sentence, from the reports alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log

from tuiapp.lanes.comparison import Comparison
from tuiapp.lanes.lane import Lane, Status
from tuiapp.running.verdicts import Ruling
from tuiapp.view.story import Story

LEVEL = 1.05  # a smaller ratio is no difference worth a word


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
    """By how many times one lane is ahead of another in a measure; below 1 it is behind."""

    measure: Measure
    ratio: float


def tell_verdict(comparison: Comparison, *, is_brief: bool = False) -> Story:
    """Who wins among the lanes that are shown, or what is still to come.

    Args:
        is_brief: in few words, the largest gain and the price.
    """
    lanes = comparison.shown
    if told := _tell_progress(lanes):
        return told
    over = [lane for lane in lanes if lane.is_over]
    if len(over) < 2:
        return Story("No verdict", ": fewer than two lanes have run to their end.")
    if told := _tell_unlike(over):
        return told
    winner = find_winner(over)
    claims = "" if is_brief else _tell_claims(comparison)
    gains = _tell_gains(winner, over, is_brief=is_brief)
    rest = f"{gains}{_tell_price(winner, over, is_brief=is_brief)}{claims}"
    return Story(f"{winner.name} wins" if _is_ahead(winner, over) else "A draw", rest)


def tell_lane(lane: Lane, lanes: Sequence[Lane]) -> str:
    """How a lane compares with the winner, in a few words; empty before there is one."""
    over = [each for each in lanes if each.is_over]
    if lane not in over or len(over) < len(lanes) or len(over) < 2 or _tell_unlike(over):
        return ""
    winner = find_winner(over)
    if winner is lane:
        return "wins" if _is_ahead(winner, over) else ""
    behind = [each for each in _leads(winner, lane) if each.ratio >= LEVEL]
    if not behind:
        return f"level with {winner.name}"
    words = ", ".join(
        f"{e.measure.subject} {_times(e.ratio)} {e.measure.worse}" for e in behind[:2]
    )
    return f"{words} than {winner.name}"


def find_winner(over: Sequence[Lane]) -> Lane:
    """The lane that is nearest to the best in everything that all have; then, by its worst gap."""
    losses = {lane.name: _loss(lane, over) for lane in over}
    least = min(losses.values())
    near = [lane for lane in over if losses[lane.name] <= least * LEVEL]
    return min(near, key=lambda lane: (_value(lane, GAP) or inf, losses[lane.name]))


def _tell_progress(lanes: Sequence[Lane]) -> Story | None:
    running = [lane for lane in lanes if lane.standing.status is Status.RUNNING]
    to_come = [lane.name for lane in lanes if lane.standing.status is Status.WAITING]
    if not running and not to_come:
        return None
    if not running:
        return Story("The engine makes room", f" for {to_come[0]} …")
    told = (f"{lane.name} {lane.track.num_ended} of {lane.num_requests}" for lane in running)
    then = f"; then {', '.join(to_come)}" if to_come else ""
    return Story("Answered so far", f": {', '.join(told)}{then}. Each lane gets the same requests.")


def _tell_unlike(over: Sequence[Lane]) -> Story | None:
    """Lanes that did not do the same work cannot be compared."""
    counts = {lane.name: lane.report().service.num_completed for lane in over}
    if len(set(counts.values())) == 1:
        return None
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    reasons = [text for lane in over for text in lane.complaints]
    why = f" ({reasons[0]})" if reasons else ""
    return Story("Not the same work", f": requests answered in full: {told}{why}.")


def _tell_gains(winner: Lane, over: Sequence[Lane], *, is_brief: bool) -> str:
    """What it gains on the lane that is furthest behind."""
    last = max((lane for lane in over if lane is not winner), key=lambda lane: _loss(lane, over))
    gains = [lead for lead in _leads(winner, last) if lead.ratio >= LEVEL]
    if not gains:
        return f": no lane is ahead of another by {LEVEL - 1:.0%} on these requests."
    words = ", ".join(
        f"{g.measure.subject} {_times(g.ratio)} {g.measure.better}" for g in gains[:2]
    )
    if is_brief:
        measure = gains[0].measure
        return f": {measure.brief} {_times(gains[0].ratio)} {measure.better} than {last.name}."
    held = last.report().passes.held_share or 0.0
    is_waste = held - (winner.report().passes.held_share or 0.0) >= 0.05
    why = f", which holds {held:.0%} of its slot time idle" if is_waste else ""
    return f": {words} than {last.name}{why}."


def _tell_price(winner: Lane, over: Sequence[Lane], *, is_brief: bool) -> str:
    """Where another lane is better, and by how much."""
    behind = [
        (lead, lane)
        for lane in over
        if lane is not winner
        for lead in _leads(lane, winner)
        if lead.ratio >= LEVEL
    ]
    if not behind:
        return " It costs nothing here." if _is_ahead(winner, over) else ""
    lead, lane = max(behind, key=lambda pair: pair[0].ratio)
    measure = lead.measure
    if is_brief:
        return f" Price: {measure.brief} {_times(lead.ratio)} {measure.worse} than {lane.name}."
    return f" The price: {measure.subject} {_times(lead.ratio)} {measure.worse} than {lane.name}."


def _tell_claims(comparison: Comparison) -> str:
    rulings = [each.ruling for each in comparison.rulings()]
    judged = [ruling for ruling in rulings if ruling is not Ruling.OPEN]
    if not judged:
        return ""
    num_held = judged.count(Ruling.HOLDS)
    return f" {num_held} of the preset's {len(rulings)} claims hold."


def _is_ahead(winner: Lane, over: Sequence[Lane]) -> bool:
    others = (lane for lane in over if lane is not winner)
    return any(lead.ratio >= LEVEL for lane in others for lead in _leads(winner, lane))


def _loss(lane: Lane, over: Sequence[Lane]) -> float:
    """How many times worse than the best it is on average, over what every lane has."""
    ratios = []
    for measure in MEASURES:
        values = [_value(each, measure) for each in over]
        known = [value for value in values if value]
        own = _value(lane, measure)
        if own and len(known) == len(over):
            best = max(known) if measure.is_more_better else min(known)
            ratios.append(abs(log(own / best)))
    return exp(sum(ratios) / len(ratios)) if ratios else 1.0


def _leads(one: Lane, other: Lane) -> list[Lead]:
    """By how much the one is ahead, in every measure that both have; the largest first."""
    found = []
    for measure in MEASURES:
        mine, theirs = _value(one, measure), _value(other, measure)
        if mine and theirs:
            ratio = mine / theirs if measure.is_more_better else theirs / mine
            found.append(Lead(measure, ratio))
    return sorted(found, key=lambda lead: -lead.ratio)


def _value(lane: Lane, measure: Measure) -> float | None:
    return lane.report().value(measure.metric)


def _times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.1f}×"
