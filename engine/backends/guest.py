"""`Visit`: somebody else uses a live engine's model for a while, and the engine goes on after it.

Weights are in memory once. The cache is the guest's while it is there, so what ran is preempted
first and computed again afterwards: no token is lost or repeated, and no request grows older.
"""

from __future__ import annotations

from typing import Protocol

from engine.core import EngineCore


class Guest(Protocol):
    """Runs on the engine's thread, a step at a time, in place of the engine."""

    def begin(self, host: EngineCore) -> None:
        """Take over; `host` is not to be stepped, but its runner and tokenizer may be used."""
        ...

    def turn(self) -> float | None:
        """Run a step.

        Returns:
            Seconds until there is something to do again; None when the visit is over.
        """
        ...


class Visit:
    """From the moment the host makes room until it has its cache back."""

    def __init__(self, host: EngineCore, guest: Guest) -> None:
        host.clear_cache()
        self._host = host
        self._guest = guest
        guest.begin(host)

    def turn(self) -> float | None:
        """Run a step of the guest's; None when it has left.

        Raises:
            RunnerError: the host cannot have its cache back.
        """
        seconds = self._guest.turn()
        if seconds is None:
            pool = self._host.queues.pool
            self._host.runner.resize(pool.num_blocks, pool.block_size)
        return seconds
