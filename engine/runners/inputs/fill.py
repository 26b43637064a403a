"""Write a packed pass into the memory that goes to the device: `fill`.

What lies behind the rows of the pass, up to the size of the fields, is padding: it reads and
writes the scratch block alone, and what it samples is thrown away.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.plan import RunnerError
from engine.request import PENDING, Sequence
from engine.runners.inputs.fields import NOWHERE, Array, Fields
from engine.runners.inputs.pack import Packed
from engine.runners.inputs.slots import SlotTable
from engine.runners.sampling.random_stream import uniforms
from engine.runners.sampling.sample import Draw

Ints = npt.NDArray[np.int64]


def fill(
    fields: Fields[Array],
    packed: Packed,
    slots: SlotTable,
    sources: Mapping[Sequence, int],
    draw: Draw,
) -> None:
    """Write all that the device is told of a pass.

    Args:
        sources: of each sequence that the pass before sampled for, which of its tokens it got.
        draw: what the sampler is going to read.

    Raises:
        RunnerError: a token is pending that the pass before did not sample.
    """
    token_ids = _token_ids(packed)
    positions, write_slots = (_single_places if packed.is_single else _places)(packed, slots)
    _put(fields.token_ids, token_ids, 0)
    _put(fields.positions, positions, 0)
    _put(fields.write_slots, write_slots, slots.scratch_slot)
    fields.sources[:] = NOWHERE
    if PENDING in token_ids:
        _fill_pending(fields, packed, token_ids, sources)
    _put(fields.sample_at, packed.sample_at, 0)
    if fields.ruled_out.size:
        _fill_ruled_out(fields, packed)
    if draw is not Draw.GREEDY:
        _fill_sampling(fields, packed, slots)
    if fields.kv_lens.size:
        _fill_contexts(fields, packed, slots)


def _put(field: Array, values: list[int] | npt.NDArray[Any], padding: int) -> None:
    """Write values into the beginning of a field and padding behind them."""
    count = len(values)
    field[:count] = values
    if count < len(field):
        field[count:] = padding


def _token_ids(packed: Packed) -> list[int]:
    token_ids: list[int] = []
    for row, width in zip(packed.rows, packed.widths, strict=True):
        seq = row.seq
        begin = seq.num_computed
        own = seq.token_ids[begin : begin + row.num_tokens] or seq.token_ids[-1:]
        token_ids += own
        if len(own) < width:
            token_ids += [0] * (width - len(own))
    return token_ids


def _single_places(packed: Packed, slots: SlotTable) -> tuple[list[int], list[int]]:
    """Each token's position in its sequence, and where its key and value go; one token a row.

    In a pass that only decodes, plain integers take less time than arrays.
    """
    block_size, write_slots = slots.block_size, []
    positions = [row.seq.num_computed for row in packed.rows]
    for row, position in zip(packed.rows, positions, strict=True):
        if row.num_tokens:
            block = row.seq.block_table[position // block_size]
            write_slots.append(block * block_size + position % block_size)
        else:
            write_slots.append(slots.scratch_slot)
    return positions, write_slots


def _places(packed: Packed, slots: SlotTable) -> tuple[Ints, Ints]:
    """The same for rows of any width."""
    row_of = np.repeat(np.arange(len(packed.rows)), packed.widths)
    num_live = np.array([row.num_tokens for row in packed.rows])[row_of]
    num_computed = np.array([row.seq.num_computed for row in packed.rows])[row_of]
    offsets = np.arange(packed.num_tokens) - np.array(packed.starts)[row_of]
    positions = np.where(offsets < np.maximum(num_live, 1), num_computed + offsets, 0)
    row_slots = np.array(packed.slots)[row_of]
    blocks = slots.blocks[row_slots, positions // slots.block_size].astype(np.int64)
    write_slots = blocks * slots.block_size + positions % slots.block_size
    return positions, np.where(offsets < num_live, write_slots, slots.scratch_slot)


def _fill_pending(
    fields: Fields[Array],
    packed: Packed,
    token_ids: list[int],
    sources: Mapping[Sequence, int],
) -> None:
    """Where the device finds the ids that the host does not know yet."""
    places = [place for place, token_id in enumerate(token_ids) if token_id == PENDING]
    for place in places:
        seq = packed.rows[bisect_right(packed.starts, place) - 1].seq
        if seq not in sources:
            raise RunnerError(f"a token of {seq.id} is pending that the last pass did not sample")
        fields.sources[place] = sources[seq]


def _fill_ruled_out(fields: Fields[Array], packed: Packed) -> None:
    """The ids that a row must not sample."""
    fields.ruled_out[:] = NOWHERE
    for row, ids in packed.ruled_out.items():
        fields.ruled_out[row, : len(ids)] = list(ids)


def _fill_sampling(fields: Fields[Array], packed: Packed, slots: SlotTable) -> None:
    """How each row samples."""
    chosen = packed.sample_slots
    indices = np.array([seq.num_output_tokens for seq in packed.sampling], np.int64)
    _put(fields.parameters, slots.parameters[chosen], 0)
    _put(fields.number, uniforms(slots.streams[chosen], indices), 0)


def _fill_contexts(fields: Fields[Array], packed: Packed, slots: SlotTable) -> None:
    """What each row of a pass that only decodes attends to."""
    count, width = len(packed.rows), fields.block_tables.shape[1]
    known = min(width, slots.blocks.shape[1])
    fields.block_tables[:count, :known] = slots.blocks[packed.slots, :known]
    fields.block_tables[:count, known:] = slots.scratch_block
    fields.block_tables[count:] = slots.scratch_block
    _put(fields.kv_lens, [row.seq.num_computed + row.num_tokens for row in packed.rows], 1)
