"""Things that hurt a server, each on a key: what happens then is what batching is about."""

from __future__ import annotations

from dataclasses import replace

from engine.settings import EngineSettings
from tuiapp.counting import counted
from tuiapp.injector import BURST_SIZE
from tuiapp.session import Session
from tuiapp.view.snapshot import Snapshot

BOMB_OUTPUT = 16
NUM_BURSTS = 4
SQUEEZE = 4  # the cache shrinks to one part in so many


class Attacks:
    """Strikes, and says what it did; only the squeeze lasts, and it can be undone."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._before: int | None = None  # `num_kv_blocks` before the squeeze
        self._squeezed = 0

    def bomb_tokens(self, snapshot: Snapshot) -> int:
        """The longest prompt that is not refused; 0 if none is."""
        settings, info = snapshot.settings, snapshot.info
        longest = info.longest(settings) if info else 0
        return max(0, min(longest, snapshot.num_blocks * settings.block_size) - BOMB_OUTPUT)

    def bomb(self, snapshot: Snapshot) -> str:
        """Send one prompt as long as the model and the cache allow."""
        num_tokens = self.bomb_tokens(snapshot)
        if not num_tokens:
            return "The cache is too small for any prompt"
        self._session.injector.inject_wish("", num_tokens, BOMB_OUTPUT, 1)
        return f"One prompt of {counted(num_tokens, 'token')}"

    def burst(self) -> str:
        """Send many requests at the same moment."""
        sent = sum(self._session.injector.burst() for _ in range(NUM_BURSTS))
        return f"{sent} requests at once"

    def victims(self, snapshot: Snapshot) -> list[str]:
        """Every other request that runs or waits near the front."""
        views = [view for view in (*snapshot.slots, *snapshot.waiting) if view]
        return [view.id for view in views if view.reason is None][::2]

    def cancel(self, snapshot: Snapshot) -> str:
        """Let every other client hang up."""
        victims = self.victims(snapshot)
        for request_id in victims:
            self._session.backend.abort(request_id)
        return (
            f"{counted(len(victims), 'client')} hung up"
            if victims
            else "Nobody is there to hang up"
        )

    def is_squeezed(self) -> bool:
        """Whether the cache is small because of us."""
        return self._before is not None and self._session.settings.num_kv_blocks == self._squeezed

    def squeezed_blocks(self, snapshot: Snapshot) -> int:
        """What a squeeze leaves: a quarter, but room for one reserved context."""
        return max(1, snapshot.num_blocks // SQUEEZE, _reserved(snapshot))

    def squeeze(self, snapshot: Snapshot) -> str:
        """Shrink the KV cache, or give back what was taken."""
        settings = self._session.settings
        if self.is_squeezed():
            self._configure(settings, self._before or 0)
            self._before = None
            return "The KV cache has its old size again"
        self._before, self._squeezed = settings.num_kv_blocks, self.squeezed_blocks(snapshot)
        self._configure(settings, self._squeezed)
        size = counted(self._squeezed, "block")
        return (
            f"The KV cache shrank from {snapshot.num_blocks} to {size}; "
            "the same key gives them back"
        )

    def _configure(self, settings: EngineSettings, num_kv_blocks: int) -> None:
        self._session.configure(replace(settings, num_kv_blocks=num_kv_blocks))


def burst_size() -> int:
    """How many requests a burst sends."""
    return BURST_SIZE * NUM_BURSTS


def _reserved(snapshot: Snapshot) -> int:
    """Blocks that every request takes at once; 0 where they are taken one by one."""
    settings, info = snapshot.settings, snapshot.info
    return -(-info.reserve_tokens(settings) // settings.block_size) if info else 0
