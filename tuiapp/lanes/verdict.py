"""Who wins a comparison, by how much, and at what price: one sentence, from the reports alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log

from tuiapp.lanes.comparison import Comparison
from tuiapp.lanes.lane import Lane
from tuiapp.lanes.measures import (
    GAP,
    LEVEL,
    MEASURES,
    clear_leads,
    tell_noise,
    value,
)
from tuiapp.lanes.mishaps import tell_mishap, tell_rest
from tuiapp.lanes.progress import tell_progress
from tuiapp.running.verdicts import Ruling
from tuiapp.view.story import Story


def tell_verdict(comparison: Comparison, *, is_brief: bool = False) -> Story:
    """Who wins among the lanes that are shown, or what is still to come.

    Args:
        is_brief: in few words, the largest gain and the price.
    """
    lanes = comparison.shown
    if told := tell_progress(comparison) or tell_mishap(lanes, can_run=comparison.can_run):
        return told
    over = [lane for lane in lanes if lane.is_over]
    winner = find_winner(over)
    if not _is_ahead(winner, over):
        why = _tell_draw(over, can_run=comparison.can_run)
        return Story("A draw", f"{why}{tell_rest(lanes)}{_tell_mind(comparison)}")
    gains = _tell_gains(winner, over, is_brief=is_brief)
    rest = f"{gains}{_tell_price(winner, over, is_brief=is_brief)}"
    if not is_brief:
        rest += f"{_tell_claims(comparison)}{tell_noise(over, can_run=comparison.can_run)}"
    rest += f"{tell_rest(lanes)}{_tell_mind(comparison)}"
    return Story(_tell_winner(winner, over), rest)


def tell_lane(lane: Lane, lanes: Sequence[Lane]) -> str:
    """How a lane compares with the winner, in a few words; empty before there is one."""
    over = [each for each in lanes if each.is_over]
    if lane not in over or len(over) < len(lanes) or tell_mishap(over):
        return ""
    winner = find_winner(over)
    if winner is lane:
        return ("leads" if _peers(winner, over) else "wins") if _is_ahead(winner, over) else ""
    behind = clear_leads(winner, lane)
    if not behind:
        return f"{_tell_level(lane)} {winner.name}"
    words = ", ".join(
        f"{e.measure.subject} {_times(e.ratio)} {e.measure.worse}" for e in behind[:2]
    )
    return f"{words} than {winner.name}"


def find_winner(over: Sequence[Lane]) -> Lane:
    """The lane that is nearest to the best in everything that all have; then, by its worst gap."""
    losses = {lane.name: _loss(lane, over) for lane in over}
    least = min(losses.values())
    near = [lane for lane in over if losses[lane.name] <= least * LEVEL]
    return min(near, key=lambda lane: (value(lane, GAP) or inf, losses[lane.name]))


def _tell_winner(winner: Lane, over: Sequence[Lane]) -> str:
    peers = _peers(winner, over)
    if not peers:
        return f"{winner.name} wins"
    names = " and ".join(lane.name for lane in (winner, *peers))
    return f"{names} lead, {_tell_level(winner)} each other"


def _tell_draw(over: Sequence[Lane], *, can_run: bool) -> str:
    """Why nobody wins."""
    if all(lane.is_simulated for lane in over):
        return f": no lane is ahead of another by {LEVEL - 1:.0%} on these requests."
    return f": no lane is ahead of another by more than noise.{tell_noise(over, can_run=can_run)}"


def _tell_gains(winner: Lane, over: Sequence[Lane], *, is_brief: bool) -> str:
    """What it gains on the lane that is furthest behind."""
    behind = [lane for lane in over if lane is not winner and clear_leads(winner, lane)]
    last = max(behind, key=lambda lane: _loss(lane, over))
    gains = clear_leads(winner, last)
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
        (lead, lane) for lane in over if lane is not winner for lead in clear_leads(lane, winner)
    ]
    if not behind:
        return " It costs nothing here."
    lead, lane = max(behind, key=lambda pair: pair[0].ratio)
    measure = lead.measure
    if is_brief:
        return f" Price: {measure.brief} {_times(lead.ratio)} {measure.worse} than {lane.name}."
    return f" The price: {measure.subject} {_times(lead.ratio)} {measure.worse} than {lane.name}."


def _tell_mind(comparison: Comparison) -> str:
    mind = comparison.contest.mind
    return f" Mind: {mind}." if mind else ""


def _tell_claims(comparison: Comparison) -> str:
    rulings = [each.ruling for each in comparison.rulings()]
    judged = [ruling for ruling in rulings if ruling is not Ruling.OPEN]
    if not judged:
        return ""
    num_held = judged.count(Ruling.HOLDS)
    return f" {num_held} of the preset's {len(rulings)} claims hold."


def _is_ahead(winner: Lane, over: Sequence[Lane]) -> bool:
    return any(clear_leads(winner, lane) for lane in over if lane is not winner)


def _peers(winner: Lane, over: Sequence[Lane]) -> list[Lane]:
    """Lanes that cannot be told from the winner."""
    others = (lane for lane in over if lane is not winner)
    return [one for one in others if not (clear_leads(winner, one) or clear_leads(one, winner))]


def _tell_level(lane: Lane) -> str:
    """What two lanes are that cannot be told apart."""
    return "level with" if lane.is_simulated else "within noise of"


def _loss(lane: Lane, over: Sequence[Lane]) -> float:
    """How many times worse than the best it is on average, over what every lane has."""
    ratios = []
    for measure in MEASURES:
        values = [value(each, measure) for each in over]
        known = [each for each in values if each]
        own = value(lane, measure)
        if own and len(known) == len(over):
            best = max(known) if measure.is_more_better else min(known)
            ratios.append(abs(log(own / best)))
    return exp(sum(ratios) / len(ratios)) if ratios else 1.0


def _times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.1f}×"
