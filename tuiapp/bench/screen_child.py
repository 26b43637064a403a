"""One run for `screen_cost`, in a process of its own: the requests of the contest, or a screen."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

from engine.assembly import build_core
from engine.backends.local import LocalBackend
from engine.bench.traffic import Traffic
from engine.clock import WallClock
from engine.events import Arrived, Token
from engine.log import EventLog
from engine.run import run
from engine.runners.parts import ModelSpec
from engine.workload import Listed
from tuiapp.app import SWITCH_INTERVAL, Playground
from tuiapp.screens.live import LiveScreen
from tuiapp.session import Session


def run_headless(spec: ModelSpec, traffic: Traffic) -> EventLog:
    """In this thread, with nobody watching."""
    log = EventLog()
    core = build_core(spec, traffic.settings(), WallClock(), log)
    run(core, Listed(traffic.draw(core.tokenizer)))
    return log


def run_screen(spec: ModelSpec, traffic: Traffic) -> EventLog:
    """As the playground does, until the last request has ended."""
    backend = LocalBackend(partial(build_core, spec, traffic.settings()))
    sys.setswitchinterval(SWITCH_INTERVAL)
    backend.start()
    Watched(backend, traffic).run()
    backend.stop()
    return backend.log


class Watched(Playground):
    """The playground, with the requests of the contest; it leaves when they are served."""

    def __init__(self, backend: LocalBackend, traffic: Traffic) -> None:
        super().__init__(Session(backend, traffic.settings()), self._begin)
        self._traffic = traffic

    def on_mount(self) -> None:
        self.set_interval(0.1, self._leave_when_done)

    def _begin(self, session: Session) -> None:
        tokenizer = session.backend.tokenizer
        assert tokenizer, "the engine is ready"
        session.play("bench", Listed(self._traffic.draw(tokenizer)))

    def _leave_when_done(self) -> None:
        live = self.screen_stack[0]
        assert isinstance(live, LiveScreen)
        if live.newest.meters.num_finished >= self._traffic.num_requests:
            self.exit()


def tokens_per_second(log: EventLog) -> float:
    """From the first arrival to the last token."""
    events, _ = log.since(0)
    tokens = [event.time for event in events if isinstance(event, Token)]
    first = next(event.time for event in events if isinstance(event, Arrived))
    return len(tokens) / (tokens[-1] - first)


def main(wanted: dict[str, Any]) -> None:
    """Make the run and write down its rate."""
    names = ("model", "device", "dtype", "load_format")
    spec = ModelSpec(**{name: wanted[name] for name in names})
    traffic = Traffic(num_requests=wanted["num_requests"])
    log = (run_screen if wanted["kind"] == "screen" else run_headless)(spec, traffic)
    result = {"tokens_per_second": tokens_per_second(log)}
    Path(wanted["result"]).write_text(json.dumps(result))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
