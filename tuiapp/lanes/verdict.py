"""Who wins a comparison, by how much, and at what price: one sentence, from the reports alone."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from tuiapp.lanes.comparison import Comparison
from tuiapp.lanes.contender import Contender
from tuiapp.lanes.measures import LEVEL, clear_leads, tell_noise
from tuiapp.lanes.mishaps import tell_mishap, tell_rest
from tuiapp.lanes.progress import tell_progress
from tuiapp.lanes.winner import find_winner, is_ahead, loss, peers
from tuiapp.running.verdicts import Ruling, Verdict
from tuiapp.view.story import Story


def tell_verdict(comparison: Comparison, *, is_brief: bool = False) -> Story:
    """Who wins among the lanes that are shown, or what is still to come.

    Args:
        is_brief: in few words, the largest gain and the price.
    """
    lanes, can_run = comparison.shown, comparison.can_run
    if told := tell_progress(comparison) or tell_mishap(lanes, can_run=can_run):
        return told
    repeat = "r repeats them" if can_run else ""
    mind, rulings = comparison.contest.mind, () if is_brief else comparison.rulings()
    return decide(lanes, rulings, mind=mind, repeat=repeat, is_brief=is_brief)


def decide(
    lanes: Sequence[Contender],
    rulings: Sequence[Verdict] = (),
    *,
    mind: str = "",
    repeat: str = "",
    is_brief: bool = False,
) -> Story:
    """Who wins, where all have ended and no mishap stands in the way of a verdict.

    Args:
        rulings: what became of the claims about them.
        mind: why they do not compare as they should.
        repeat: what the user can do to have them repeated.
    """
    over = [lane for lane in lanes if lane.is_over]
    winner = find_winner(over)
    after = f"{tell_rest(lanes)}{_tell_mind(mind)}"
    if not is_ahead(winner, over):
        return Story("A draw", f"{_tell_draw(over, repeat)}{after}")
    gains = _tell_gains(winner, over, is_brief=is_brief)
    rest = f"{gains}{_tell_price(winner, over, is_brief=is_brief)}"
    if not is_brief:
        rest += f"{_tell_claims(rulings)}{tell_noise(over, repeat)}"
    return Story(_tell_winner(winner, over), f"{rest}{after}")


def tell_lane(lane: Contender, lanes: Sequence[Contender]) -> str:
    """How a lane compares with the winner, in a few words; empty before there is one."""
    over = [each for each in lanes if each.is_over]
    if lane not in over or len(over) < len(lanes) or tell_mishap(over):
        return ""
    winner = find_winner(over)
    if winner is lane:
        return ("leads" if peers(winner, over) else "wins") if is_ahead(winner, over) else ""
    behind = clear_leads(winner, lane)
    if not behind:
        return f"{_tell_level(lane)} {winner.name}"
    words = ", ".join(
        f"{e.measure.subject} {_times(e.ratio)} {e.measure.worse}" for e in behind[:2]
    )
    return f"{words} than {winner.name}"


def _tell_winner(winner: Contender, over: Sequence[Contender]) -> str:
    level = peers(winner, over)
    if not level:
        return f"{winner.name} wins"
    names = " and ".join(lane.name for lane in (winner, *level))
    return f"{names} lead, {_tell_level(winner)} each other"


def _tell_draw(over: Sequence[Contender], repeat: str) -> str:
    """Why nobody wins."""
    if all(lane.is_simulated for lane in over):
        return f": no lane is ahead of another by {LEVEL - 1:.0%} on these requests."
    return f": no lane is ahead of another by more than noise.{tell_noise(over, repeat)}"


def _tell_gains(winner: Contender, over: Sequence[Contender], *, is_brief: bool) -> str:
    """What it gains on the lane that is furthest behind."""
    behind = [lane for lane in over if lane is not winner and clear_leads(winner, lane)]
    last = max(behind, key=lambda lane: loss(lane, over))
    gains = clear_leads(winner, last)
    words = ", ".join(
        f"{g.measure.subject} {_times(g.ratio)} {g.measure.better}" for g in gains[:2]
    )
    if is_brief:
        measure = gains[0].measure
        return f": {measure.brief} {_times(gains[0].ratio)} {measure.better} than {last.name}."
    held = _held_share(last)
    is_waste = held - _held_share(winner) >= 0.05
    why = f", which holds {held:.0%} of its slot time idle" if is_waste else ""
    return f": {words} than {last.name}{why}."


def _tell_price(winner: Contender, over: Sequence[Contender], *, is_brief: bool) -> str:
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


def _tell_mind(mind: str) -> str:
    return f" Mind: {mind}." if mind else ""


def _tell_claims(rulings: Sequence[Verdict]) -> str:
    judged = [each.ruling for each in rulings if each.ruling is not Ruling.OPEN]
    if not judged:
        return ""
    num_held = judged.count(Ruling.HOLDS)
    return f" {num_held} of the preset's {len(rulings)} claims hold."


def _tell_level(lane: Contender) -> str:
    """What two lanes are that cannot be told apart."""
    return "level with" if lane.is_simulated else "within noise of"


def _held_share(lane: Contender) -> float:
    values = lane.values("held_share")
    return median(values) if values else 0.0


def _times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.1f}×"
