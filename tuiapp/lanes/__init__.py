"""The same requests through several engines, a lane each on one time axis."""

from tuiapp.lanes.comparison import Comparison
from tuiapp.lanes.contest import Contest, contest_of_log, contest_of_preset
from tuiapp.lanes.lane import Lane
from tuiapp.lanes.verdict import tell_lane, tell_verdict

__all__ = [
    "Comparison",
    "Contest",
    "Lane",
    "contest_of_log",
    "contest_of_preset",
    "tell_lane",
    "tell_verdict",
]
