"""`act`: do to an engine what a workload says."""

from __future__ import annotations

from dataclasses import replace

from engine.actions import Abort, Action, Cancel, Change, Note, Pick
from engine.core import EngineCore
from engine.events import Failed, Noted
from engine.generate.streams import stream
from engine.plan import RunnerError
from engine.request import Request
from engine.settings import EngineSettings


def act(core: EngineCore, item: Request | Action) -> None:
    """Add a request, or carry out an action."""
    match item:
        case Request():
            core.add(item)
        case Abort(_, request_id):
            core.abort(request_id)
        case Cancel():
            for request_id in _choose(core, item):
                core.abort(request_id)
        case Change():
            _change(core, item)
        case Note(_, text):
            core.log.append(Noted(core.clock.now(), text))


def change_settings(core: EngineCore, settings: EngineSettings) -> None:
    """Change any knob; where the device cannot have it, the log says so."""
    try:
        core.configure(settings)
    except RunnerError as error:
        _tell_unchanged(core, error)


def _choose(core: EngineCore, cancel: Cancel) -> list[str]:
    """The live requests that are meant, in the order in which they go."""
    live = [seq.request for seq in core.queues.live()]
    meant = [request for request in live if cancel.label in ("", request.label)]
    meant.sort(key=lambda request: request.arrival, reverse=cancel.pick is Pick.NEWEST)
    if cancel.pick is Pick.RANDOM:
        order = stream(cancel.seed, cancel.label, f"pick at {cancel.time}").permutation(len(meant))
        meant = [meant[at] for at in order]
    return [request.id for request in meant[: cancel.count]]


def _change(core: EngineCore, change: Change) -> None:
    try:
        settings = replace(core.settings, **change.changes)
    except ValueError as error:
        _tell_unchanged(core, error)
    else:
        change_settings(core, settings)


def _tell_unchanged(core: EngineCore, error: Exception) -> None:
    message = f"the settings stay as they are: {error}"
    core.log.append(Failed(core.clock.now(), message, is_usage=True))
