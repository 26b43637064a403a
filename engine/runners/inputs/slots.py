"""`SlotTable`: what the host keeps of the sequence in every slot, so that a pass copies, not asks.

A row of arrays a slot, as in vLLM's input batch: its blocks, which only grow while the sequence
runs, and its sampling parameters, which never change. A pass picks the rows of its sequences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.plan import RunnerError
from engine.request import Sequence
from engine.runners.sampling.random_stream import seed_of, start_of

LEAST_TEMPERATURE = 0.01  # colder than that, quotients overflow; vLLM stops there too
LARGEST_TOP_K = 2**24  # the largest number that single precision holds with all below it
NO_IDS: frozenset[int] = frozenset()
TEMPERATURE, TOP_P, MIN_P, TOP_K = range(4)  # columns of the sampling parameters
NUM_PARAMETERS = 4


@dataclass(slots=True)
class Occupant:
    """Who has a slot.

    Attributes:
        num_preemptions: of the sequence when it entered; it may come back with other blocks.
        open_from: output tokens from which on it may end.
        before, after: ids that its next token must not be, before that and from then on.
        num_blocks: of its block table, those that are in the array.
    """

    seq: Sequence
    num_preemptions: int
    open_from: int
    before: frozenset[int]
    after: frozenset[int]
    num_blocks: int = 0


class SlotTable:
    """Arrays with one row a slot, for one cache.

    Args:
        eos_token_ids: of the model; ruled out where an output must not end.

    Attributes:
        block_size: tokens a block.
        scratch_block: where padding reads and writes.
        blocks: ids of the blocks of each sequence, [slots, blocks]; behind them the scratch block.
        parameters: how each samples, [slots, 4] in single precision: temperature, top-p, min-p
            and top-k.
        streams: the start of each one's stream of random numbers, [slots].
    """

    def __init__(
        self, block_size: int, scratch_block: int, eos_token_ids: frozenset[int] = NO_IDS
    ) -> None:
        self.block_size = block_size
        self.scratch_block = scratch_block
        self.blocks = np.full((8, 8), scratch_block, np.int32)
        self.parameters = np.zeros((8, NUM_PARAMETERS), np.float32)
        self.streams = np.zeros(8, np.uint64)
        self._eos_token_ids = eos_token_ids
        self._occupants: list[Occupant | None] = [None] * 8
        self._random: set[int] = set()  # slots whose sequence is not sampled greedily
        self._guarded: set[int] = set()  # slots whose sequence may not end, at times at least

    @property
    def scratch_slot(self) -> int:
        """Where padding writes."""
        return self.scratch_block * self.block_size

    def update(self, seq: Sequence) -> int:
        """Take in what changed of a running sequence; return its slot.

        Raises:
            RunnerError: it has a block that the cache does not have.
        """
        slot = seq.slot
        assert slot is not None, f"{seq.id} runs without a slot"
        if slot >= len(self._occupants):
            self._grow(slot + 1, self.blocks.shape[1])
        occupant = self._occupants[slot]
        if occupant is None or occupant.seq is not seq or _has_returned(occupant):
            occupant = self._occupants[slot] = self._enter(seq, slot)
        if occupant.num_blocks != len(seq.block_table):
            self._note_blocks(occupant, slot)
        return slot

    def random_among(self, slots: list[int]) -> list[int]:
        """Those of the slots whose sequence is not sampled greedily."""
        return [] if self._random.isdisjoint(slots) else [s for s in slots if s in self._random]

    def rule_out(self, slots: list[int]) -> dict[int, frozenset[int]]:
        """The ids that would end a sequence with its next token although it may not end.

        Returns:
            By place among `slots`, where there are such ids.
        """
        if self._guarded.isdisjoint(slots):
            return {}
        found = {place: self._ruled_out(slot) for place, slot in enumerate(slots)}
        return {place: ids for place, ids in found.items() if ids}

    def _ruled_out(self, slot: int) -> frozenset[int]:
        occupant = self._occupants[slot]
        assert occupant is not None, "an empty slot"
        is_open = occupant.seq.num_output_tokens >= occupant.open_from
        return occupant.after if is_open else occupant.before

    def _enter(self, seq: Sequence, slot: int) -> Occupant:
        """Note a sequence that is new in its slot."""
        sampling = seq.request.sampling
        temperature = max(sampling.temperature, LEAST_TEMPERATURE) if sampling.temperature else 0.0
        filters = sampling.top_p, sampling.min_p, min(sampling.top_k, LARGEST_TOP_K)
        self.parameters[slot] = (temperature, *filters)
        self.streams[slot] = start_of(seed_of(seq.request))
        _mark(self._random, slot, sampling.temperature > 0)
        _mark(self._guarded, slot, sampling.ignore_eos or sampling.min_tokens > 0)
        self.blocks[slot] = self.scratch_block
        return Occupant(
            seq,
            seq.num_preemptions,
            open_from=sampling.min_tokens,
            before=self._eos_token_ids | sampling.stop_token_ids,
            after=self._eos_token_ids if sampling.ignore_eos else NO_IDS,
        )

    def _note_blocks(self, occupant: Occupant, slot: int) -> None:
        """Take in the blocks that are new, which nobody checks again.

        Raises:
            RunnerError: the cache has no such block.
        """
        table = occupant.seq.block_table
        known = min(occupant.num_blocks, len(table))
        for block in table[known:]:
            if not 0 <= block < self.scratch_block:
                raise RunnerError(
                    f"block {block} of {occupant.seq.id} is none of the cache, which has "
                    f"{self.scratch_block}, from 0 on: pool and cache must be of one size"
                )
        if len(table) > self.blocks.shape[1]:
            self._grow(len(self._occupants), len(table))
        self.blocks[slot, known : len(table)] = table[known:]
        self.blocks[slot, len(table) : occupant.num_blocks] = self.scratch_block
        occupant.num_blocks = len(table)

    def _grow(self, num_slots: int, num_blocks: int) -> None:
        """Make room in steps that double, so that it happens seldom."""
        old_slots, old_blocks = self.blocks.shape
        num_slots = max(old_slots, 1 << (num_slots - 1).bit_length())
        num_blocks = max(old_blocks, 1 << (num_blocks - 1).bit_length())
        blocks = np.full((num_slots, num_blocks), self.scratch_block, np.int32)
        blocks[:old_slots, :old_blocks] = self.blocks
        parameters = np.zeros((num_slots, NUM_PARAMETERS), np.float32)
        parameters[:old_slots] = self.parameters
        streams = np.zeros(num_slots, np.uint64)
        streams[:old_slots] = self.streams
        self.blocks, self.parameters, self.streams = blocks, parameters, streams
        self._occupants += [None] * (num_slots - old_slots)


def _mark(slots: set[int], slot: int, is_in: bool) -> None:
    slots.discard(slot)
    if is_in:
        slots.add(slot)


def _has_returned(occupant: Occupant) -> bool:
    return occupant.num_preemptions != occupant.seq.num_preemptions
