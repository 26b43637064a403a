"""One run for `screen_cost`, in a process of its own: the requests of the contest, or a screen."""

from __future__ import annotations

import json
import sys
import time
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


def run_headless(spec: ModelSpec, traffic: Traffic) -> tuple[EventLog, float]:
    """In this thread, with nobody watching; the log, and the CPU seconds that it took."""
    log = EventLog()
    core = build_core(spec, traffic.settings(), WallClock(), log)
    requests = traffic.draw(core.tokenizer)
    began = time.process_time()
    run(core, Listed(requests))
    return log, time.process_time() - began


def run_screen(spec: ModelSpec, traffic: Traffic) -> tuple[EventLog, float]:
    """As the playground does, until the last request has ended."""
    backend = LocalBackend(partial(build_core, spec, traffic.settings()))
    sys.setswitchinterval(SWITCH_INTERVAL)
    backend.start()
    watched = Watched(backend, traffic)
    watched.run()
    backend.stop()
    return backend.log, watched.ended - watched.began


class Watched(Playground):
    """The playground, with the requests of the contest; it leaves when they are served.

    Attributes:
        began, ended: on the clock of this process's CPU time.
    """

    def __init__(self, backend: LocalBackend, traffic: Traffic) -> None:
        super().__init__(Session(backend, traffic.settings()), self._begin)
        self._traffic = traffic
        self.began = self.ended = 0.0

    def on_mount(self) -> None:
        self.set_interval(0.1, self._leave_when_done)

    def _begin(self, session: Session) -> None:
        tokenizer = session.backend.tokenizer
        assert tokenizer, "the engine is ready"
        requests = self._traffic.draw(tokenizer)
        self.began = time.process_time()
        session.play("bench", Listed(requests))

    def _leave_when_done(self) -> None:
        live = self.screen_stack[0]
        assert isinstance(live, LiveScreen)
        if live.newest.meters.num_finished >= self._traffic.num_requests:
            self.ended = time.process_time()
            self.exit()


def sum_up(log: EventLog, cpu_seconds: float) -> dict[str, float]:
    """Rates of output tokens, of wall time from the first arrival to the last token."""
    events, _ = log.since(0)
    tokens = [event.time for event in events if isinstance(event, Token)]
    first = next(event.time for event in events if isinstance(event, Arrived))
    return {
        "per_second": len(tokens) / (tokens[-1] - first),
        "per_cpu_second": len(tokens) / cpu_seconds,
    }


def main(wanted: dict[str, Any]) -> None:
    """Make the run and write down its rate."""
    spec, given = ModelSpec(**wanted["spec"]), wanted["traffic"]
    pairs = {name: tuple(given[name]) for name in ("prompt_tokens", "output_tokens")}
    traffic = Traffic(**given | pairs)
    serve = run_screen if wanted["kind"] == "screen" else run_headless
    Path(wanted["result"]).write_text(json.dumps(sum_up(*serve(spec, traffic))))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
