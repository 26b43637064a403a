"""What went wrong in a comparison, and what can be done about it."""

from __future__ import annotations

from collections.abc import Sequence

from tuiapp.lanes.contender import Contender
from tuiapp.view.story import Story

ADVICE = "e changes what the lanes run under, w takes other requests"
AGAIN = "r runs the lanes again"


def tell_mishap(lanes: Sequence[Contender], *, can_run: bool = True) -> Story | None:
    """Why there is no verdict on these lanes, all of which have ended; None if there can be one.

    Args:
        can_run: there is an engine to run others on.
    """
    advice = f"; {ADVICE}" if can_run else ""
    over = [lane for lane in lanes if lane.is_over]
    if len(over) < 2:
        return _tell_failed(lanes, can_run=can_run)
    counts = {lane.name: num_completed(lane) for lane in over}
    if not any(counts.values()):
        return Story("No lane answered a request", f"{_why(over)}{advice}.")
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        return Story(
            "Not the same work", f": requests answered in full: {told}{_why(over)}{advice}."
        )
    return None


def tell_rest(lanes: Sequence[Contender]) -> str:
    """What the verdict leaves out: lanes that failed, and requests that no lane answered."""
    told = [f" {lane.name} failed: {lane.problem}." for lane in lanes if lane.problem]
    over = [lane for lane in lanes if lane.is_over]
    missing = over[0].num_requests - num_completed(over[0]) if over else 0
    if missing and any(lane.complaints for lane in over):
        told.append(f" No lane answered {missing} of {over[0].num_requests}{_why(over)}.")
    return "".join(told)


def num_completed(lane: Contender) -> int:
    """Requests that it answered in full, in every one of its runs."""
    return int(min(lane.values("num_completed")))


def _tell_failed(lanes: Sequence[Contender], *, can_run: bool) -> Story:
    failed = [lane for lane in lanes if lane.problem]
    problems = dict.fromkeys(lane.problem for lane in failed)
    if list(problems) == ["broken off"]:
        again = f"; {AGAIN}" if can_run else ""
        return Story("No verdict", f": broken off before two lanes were over{again}.")
    subject = "every lane" if len(failed) == len(lanes) else _join([lane.name for lane in failed])
    why = "; ".join(problems)
    advice = f"; {ADVICE}, {AGAIN}" if can_run else ""
    return Story("No verdict", f": {subject} failed ({why}){advice}.")


def _why(lanes: Sequence[Contender]) -> str:
    """The first complaint of the engines, in brackets."""
    reasons = [text for lane in lanes for text in lane.complaints]
    return f" ({reasons[0]})" if reasons else ""


def _join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
