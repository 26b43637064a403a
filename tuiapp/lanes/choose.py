"""What to compare when nobody named it: the preset that plays, or else what arrived live."""

from __future__ import annotations

from tuiapp.lanes.contest import Contest, contest_of_log, contest_of_preset
from tuiapp.session import Session


def choose_contest(session: Session) -> Contest | None:
    """The contest that is nearest to what is on the screen; None if nothing has arrived yet.

    Raises:
        ConfigError: the settings of the preset do not go with those of the session.
    """
    if session.playing and not session.has_injected:
        return contest_of_preset(session.playing.preset, session.base)
    return contest_of_log(session.backend.log, session.played_at, session.settings)
