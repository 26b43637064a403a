"""`tell_end`: that a run was over before the moment that a picture is asked of."""

from __future__ import annotations

from engine.events import Ready, is_pass
from engine.recording import Recording
from tuiapp.session import Session
from tuiapp.shot.frame import Moment
from tuiapp.shot.stepped import SteppedBackend


def tell_end(session: Session, moment: Moment) -> str:
    """When it ended, in a line; empty where the moment lies in the run.

    Args:
        session: that has come to the moment, or to its end.

    Raises:
        RecordingError: its recording cannot be read any more.
    """
    events, _ = session.backend.log.since(0)
    passes = [event for event in events if is_pass(event)]
    num_passes = passes[-1].index + 1 if passes else 0
    ended = passes[-1].time if passes else 0.0
    if moment.num_passes is not None:
        is_past = num_passes < moment.num_passes
    else:
        is_past = _has_ended(session, moment.time or 0.0) and ended < (moment.time or 0.0)
    what = "recording" if session.recording else "run"
    kind = "simulated " * any(isinstance(e, Ready) and e.info.is_simulated for e in events)
    words = f"the {what} ends at {kind}{ended:.1f} s, after {num_passes:,} passes; this is its end"
    return words if is_past else ""


def _has_ended(session: Session, time: float) -> bool:
    """Whether nothing is to come after the moment, rather than nothing just then."""
    if isinstance(session.backend, SteppedBackend):
        return session.backend.is_over
    return session.recording is not None and Recording(session.recording).duration < time
