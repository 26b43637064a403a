"""Fold a log into the state of the engine that wrote it: what a reader of a recording can know."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from engine.blocks import BlockChange
from engine.events import Configured, EngineInfo, Event, Holding, Keyframe, Ready, Step
from engine.request import Sequence
from engine.settings import EngineSettings


@dataclass(slots=True)
class Replay:
    """Who holds which blocks, according to the records alone.

    Attributes:
        tables: blocks of every request that holds any, in order of its context.
        cached: blocks that could be shared.
        num_blocks: free and held together.
    """

    tables: dict[str, tuple[int, ...]] = field(default_factory=dict)
    info: EngineInfo | None = None
    num_blocks: int = 0
    block_size: int = 1
    cached: set[int] = field(default_factory=set)
    settings: EngineSettings | None = None

    @classmethod
    def begin(cls, frame: Event, info: EngineInfo) -> Replay:
        """Begin in the middle, with what a keyframe says."""
        assert isinstance(frame, Keyframe)
        num_blocks, block_size = info.num_blocks(frame.settings), frame.settings.block_size
        tables, cached = tables_of(frame.running), set(frame.cached)
        return cls(tables, info, num_blocks, block_size, cached, frame.settings)

    def feed(self, events: list[Event]) -> None:
        """Read on; each record has to agree with those before it."""
        for event in events:
            match event:
                case Ready(info=info):
                    self.info = info
                case Configured(settings=settings):
                    assert self.info
                    self.num_blocks = self.info.num_blocks(settings)
                    self.block_size = settings.block_size
                    if not (self.settings and settings.keeps_cache(self.settings)):
                        self.cached = set()
                    self.settings = settings
                case Step():
                    self._feed_step(event)
                case Keyframe(running=running, cached=cached):
                    assert (self.tables, self.cached) == (tables_of(running), set(cached))
                case _:
                    pass

    @property
    def num_free(self) -> int:
        return self.num_blocks - len(set().union(*self.tables.values()))

    def _feed_step(self, step: Step) -> None:
        for change in step.blocks:
            self._feed_change(change)
        self._check_owners()
        assert self.num_free == step.num_free_blocks

    def _check_owners(self) -> None:
        """Only a block that can be found has more than one."""
        owners = Counter(block for table in self.tables.values() for block in table)
        shared = {block for block, count in owners.items() if count > 1}
        assert shared <= self.cached, "a block has two owners"

    def _feed_change(self, change: BlockChange) -> None:
        if change.forgotten:
            assert set(change.forgotten) <= self.cached
            self.cached -= set(change.forgotten)
            return
        held = self.tables.pop(change.request_id, ())
        if change.released:
            assert held == change.released, f"{change.request_id} gave back what it did not hold"
            return
        num_known = change.lookup.num_hit // self.block_size if change.lookup else 0
        assert set(change.taken[:num_known]) <= self.cached
        self.cached -= set(change.taken[num_known:])
        self.tables[change.request_id] = held + change.taken
        assert set(change.cached) <= set(held), f"{change.request_id} shares what it does not hold"
        self.cached |= set(change.cached)


def tables_of(running: tuple[Holding, ...]) -> dict[str, tuple[int, ...]]:
    return {holding.request_id: holding.blocks for holding in running if holding.blocks}


def tables_of_sequences(seqs: list[Sequence]) -> dict[str, tuple[int, ...]]:
    return {seq.id: tuple(seq.block_table) for seq in seqs if seq.block_table}
