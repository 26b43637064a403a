"""The contender that all others are measured against."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from engine.core import EngineCore
from engine.events import Token
from engine.metrics.host_time import HostReport, HostTime
from engine.request import Request
from engine.run import run
from engine.workload import Listed


class ThisEngine:
    """Continuous batching by this engine, with its log and its records.

    Args:
        core: idle, on a clock that runs by itself.
    """

    name = "this engine"

    def __init__(self, core: EngineCore, requests: Sequence[Request]) -> None:
        self._core = core
        self._requests = requests
        self._num_served = 0
        self._host = HostTime()

    def serve(self) -> int:
        self._num_served += 1
        self._host = HostTime()
        log = self._core.log
        position, num_tokens = len(log), 0

        def read() -> None:
            nonlocal position, num_tokens
            events, position = log.since(position)
            self._host.feed(events)
            num_tokens += sum(isinstance(event, Token) for event in events)

        run(self._core, Listed(self._renamed()), on_step=read)
        return num_tokens

    def cpu_seconds(self) -> float:
        return time.process_time()

    def host(self) -> HostReport | None:
        """Where the host's time went when the requests were served last."""
        return self._host.report()

    def _renamed(self) -> list[Request]:
        """The same requests again, under names that the engine has not seen."""
        return [
            replace(request, id=f"{request.id}-{self._num_served}") for request in self._requests
        ]
