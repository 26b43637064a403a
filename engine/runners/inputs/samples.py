"""`Samples`: the tokens of the pass before, which stay on the device for the next one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from engine.request import Sequence
from engine.runners.inputs.fields import Fields

CAPACITY = 512  # rows at first


class Samples:
    """With steps that overlap, a pass begins before the host has seen what the last one sampled."""

    def __init__(self, device: torch.device) -> None:
        self._sources: dict[Sequence, int] = {}
        self._tokens = torch.zeros(CAPACITY, dtype=torch.long, device=device)

    @property
    def capacity(self) -> int:
        """Rows that fit; to hold more, the memory moves."""
        return self._tokens.shape[0]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Put the tokens back afterwards, whatever is kept meanwhile."""
        saved = self._tokens.clone()
        try:
            yield
        finally:
            self._tokens.copy_(saved)

    def resolve(self, fields: Fields[torch.Tensor]) -> torch.Tensor:
        """The ids of a pass, [T], with those filled in that the host did not know."""
        known = self._tokens.index_select(0, fields.sources.clamp_min(0))
        return torch.where(fields.sources >= 0, known, fields.token_ids)

    def keep(self, tokens: torch.Tensor) -> None:
        """Keep what a pass sampled, [R]."""
        count = tokens.shape[0]
        if count > self.capacity:
            self._tokens = tokens.new_zeros(2 * count)
        self._tokens[:count].copy_(tokens)

    def attribute(self, sequences: list[Sequence]) -> None:
        """Note whose tokens those are that the pass under way keeps."""
        self._sources = dict(zip(sequences, range(len(sequences)), strict=True))

    def take_sources(self) -> dict[Sequence, int]:
        """Which of the tokens each sequence got; nothing once a pass has failed behind it."""
        sources, self._sources = self._sources, {}
        return sources
