"""Who is ahead of whom in a comparison, noise set aside."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log

from tuiapp.lanes.contender import Contender
from tuiapp.lanes.measures import GAP, LEVEL, MEASURES, clear_leads, value


def find_winner(over: Sequence[Contender]) -> Contender:
    """The lane that is nearest to the best in everything that all have; then, by its worst gap."""
    losses = {lane.name: loss(lane, over) for lane in over}
    least = min(losses.values())
    near = [lane for lane in over if losses[lane.name] <= least * LEVEL]
    return min(near, key=lambda lane: (value(lane, GAP) or inf, losses[lane.name]))


def is_ahead(winner: Contender, over: Sequence[Contender]) -> bool:
    """Whether it is more than noise ahead of another in anything."""
    return any(clear_leads(winner, lane) for lane in over if lane is not winner)


def peers(winner: Contender, over: Sequence[Contender]) -> list[Contender]:
    """Lanes that cannot be told from the winner."""
    others = (lane for lane in over if lane is not winner)
    return [one for one in others if not (clear_leads(winner, one) or clear_leads(one, winner))]


def loss(lane: Contender, over: Sequence[Contender]) -> float:
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
