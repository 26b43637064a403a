"""`Fetcher`: brings sampled tokens to the host, the only thing that the host waits for."""

from __future__ import annotations

import torch

from engine.runners.inputs.fences import Check, Fence, copies_alone, host_memory, make_fence

NUM_BUFFERS = 2  # passes under way at most
LEAST_ROWS = 64


class Fetched:
    """Tokens that may still be on their way."""

    def __init__(self, tokens: torch.Tensor, fence: Fence) -> None:
        self._tokens = tokens
        self._fence = fence

    def wait(self) -> list[int]:
        """The tokens; to be called before the second fetch after this one."""
        self._fence.wait()
        token_ids: list[int] = self._tokens.tolist()
        return token_ids


class Fetcher:
    """Copies into one of two buffers in turn.

    Args:
        check: called again and again while tokens are waited for; raises if none will come.
    """

    def __init__(self, device: torch.device, check: Check | None = None) -> None:
        self._device = device
        self._copies_alone = copies_alone(device)
        self._turn = 0
        self._fences = [make_fence(device, check) for _ in range(NUM_BUFFERS)]
        self._hosts = [self._allocate(LEAST_ROWS) for _ in range(NUM_BUFFERS)]

    def fetch(self, tokens: torch.Tensor) -> Fetched:
        """Begin to copy tokens, [R], in 64 bits."""
        self._turn = turn = (self._turn + 1) % NUM_BUFFERS
        count = tokens.shape[0]
        if count > self._hosts[turn].shape[0]:
            self._hosts[turn] = self._allocate(2 * count)
        host = self._hosts[turn][:count]
        host.copy_(tokens, non_blocking=self._copies_alone)
        self._fences[turn].record()
        return Fetched(host, self._fences[turn])

    def _allocate(self, num_rows: int) -> torch.Tensor:
        return host_memory(8 * num_rows, self._device).view(torch.long)
