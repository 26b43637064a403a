"""How far a comparison is, and about how long it will still take."""

from __future__ import annotations

from statistics import median

from tuiapp.lanes.axis import show_seconds
from tuiapp.lanes.comparison import Comparison
from tuiapp.lanes.lane import Lane, Status
from tuiapp.view.story import Story

UNFINISHED = (Status.WAITING, Status.RUNNING)


def expected(comparison: Comparison, lane: Lane) -> float | None:
    """Seconds that a lane takes in all, corrected by how wrong the lanes before it were told."""
    told = lane.standing.expected
    if told is None:
        return None
    over = [each for each in comparison.lanes if each.is_over and each.standing.expected]
    factors = [each.track.ended / each.standing.expected for each in over if each.standing.expected]
    return told * median(factors) if factors else told


def remaining(comparison: Comparison) -> float | None:
    """Seconds until the last lane that is shown is over; None where nobody knows."""
    seconds = 0.0
    for lane in comparison.shown:
        if lane.standing.status in UNFINISHED:
            whole = expected(comparison, lane)
            if whole is None:
                return None
            seconds += max(0.0, whole - lane.track.ended)
    return seconds


def tell_progress(comparison: Comparison) -> Story | None:
    """What runs and what is to come; None when no lane is left to run."""
    lanes = comparison.shown
    running = [lane for lane in lanes if lane.standing.status is Status.RUNNING]
    to_come = [lane.name for lane in lanes if lane.standing.status is Status.WAITING]
    if not running and not to_come:
        return None
    left = remaining(comparison)
    hint = f" {about(left).capitalize()} to go; esc gives the engine back." if left else ""
    if not running:
        return Story("The engine makes room", f" for {to_come[0]} …{hint}")
    told = (f"{lane.name} {lane.track.num_ended} of {lane.num_requests}" for lane in running)
    then = f"; then {', '.join(to_come)}" if to_come else ""
    same = "" if left else " Each lane gets the same requests."
    return Story("Answered so far", f": {', '.join(told)}{then}.{same}{hint}")


def about(seconds: float) -> str:
    """A length of time that is an estimate, as coarse as it deserves."""
    if seconds < 1:
        return "about a second"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min"


def tell_lane_progress(comparison: Comparison, lane: Lane) -> str:
    """How far a lane is, in a few signs."""
    standing, whole = lane.standing, expected(comparison, lane)
    if standing.status is Status.WAITING:
        return "to come" + (f", {about(whole)}" if whole else "")
    if standing.status is Status.FAILED:
        return "failed"
    done = f"{lane.track.num_ended}/{lane.num_requests} {show_seconds(lane.track.ended)}"
    is_open = standing.status is Status.RUNNING and whole is not None
    return f"{done} of {about(whole)}" if is_open and whole else done
