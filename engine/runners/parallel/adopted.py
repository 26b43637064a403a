"""`Adopted`: the other processes that torchrun started, as far as their leader can look after them.

They are not its children, so it can neither see them end nor end them; torchrun does both.
"""

from __future__ import annotations

from subprocess import Popen

from engine.plan import RunnerError


class Adopted:
    """Has the verbs of `Followers`.

    Attributes:
        processes: none that this one could wait for.
        are_listening: they have come to the meeting, and take orders once they have loaded.
        are_alive: no pass has failed half way, so the next order is understood as one.
    """

    def __init__(self) -> None:
        self.processes: list[Popen[bytes]] = []
        self.are_listening = True
        self.are_alive = True

    def check(self) -> None:
        """See that they still understand orders.

        Raises:
            RunnerError: they wait in the middle of a pass that failed here.
        """
        if not self.are_alive:
            raise RunnerError(
                "a pass that the ranks shared has failed, and they are out of step; "
                "start again with torchrun"
            )

    def await_end(self, seconds: float) -> None:
        """Nothing of theirs can be seen from here."""

    def kill(self) -> None:
        """Give them up: they end once their connections do, which this process closes."""
        self.are_alive = False

    def wait(self) -> None:
        """They are waited for by torchrun."""
