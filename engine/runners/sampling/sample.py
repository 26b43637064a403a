"""From logits to token ids: `sample`, without a branch on what a tensor holds.

The filtered distribution is inverted at one uniform number of the request's own, in the order of
the vocabulary, so a request's tokens depend neither on its company nor on being preempted.

Shapes: R rows that sample, V tokens in the vocabulary, E ids that are ruled out.
"""

from __future__ import annotations

from enum import Enum

import torch

from engine.runners.inputs.fields import Fields
from engine.runners.inputs.pack import Packed
from engine.runners.inputs.slots import (
    LEAST_TEMPERATURE,
    MIN_P,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    SlotTable,
)
from engine.runners.sampling.filters import WIDTHS, floors


class Draw(Enum):
    """What the rows of a pass need of the sampler, all together."""

    GREEDY = "greedy"
    RANDOM = "random"
    FILTERED = "filtered"


def choose_draw(packed: Packed, slots: SlotTable) -> tuple[Draw, int]:
    """What the rows that sample need, and the largest top-k among them."""
    chosen = slots.random_among(packed.sample_slots)
    if not chosen:
        return Draw.GREEDY, 0
    parameters = slots.parameters[chosen]
    largest_k = int(parameters[:, TOP_K].max())
    is_cut = parameters[:, TOP_P].min() < 1 or parameters[:, MIN_P].max() > 0
    return (Draw.FILTERED if largest_k or is_cut else Draw.RANDOM), largest_k


def widths_for(largest_k: int) -> tuple[int, ...]:
    """How many of the likeliest tokens to sort at first, with a largest top-k."""
    return tuple(width for width in WIDTHS if largest_k <= width)


def sample(
    logits: torch.Tensor, fields: Fields[torch.Tensor], draw: Draw, widths: tuple[int, ...] = ()
) -> torch.Tensor:
    """Choose a token for each row, greedily where its temperature is 0.

    Args:
        logits: [R, V] in float32; changed in place.
        widths: see `floors`; none where the host must not wait for the device.

    Returns:
        [R]; V for a row whose logits are no numbers.
    """
    if fields.ruled_out.shape[1]:
        is_id = fields.ruled_out >= 0
        penalty = torch.zeros_like(fields.ruled_out, dtype=logits.dtype)
        penalty.masked_fill_(is_id, float("-inf"))
        logits.scatter_add_(1, fields.ruled_out.clamp_min(0), penalty)
    likeliest = logits.max(dim=-1)
    tokens = likeliest.indices.masked_fill(likeliest.values.isnan(), logits.shape[1])
    if draw is Draw.GREEDY:
        return tokens
    drawn = _draw(logits, fields, draw, widths)
    return torch.where(fields.parameters[:, TEMPERATURE] > 0, drawn, tokens)


def _draw(
    logits: torch.Tensor, fields: Fields[torch.Tensor], draw: Draw, widths: tuple[int, ...]
) -> torch.Tensor:
    """Draw a token for each row, [R], at its own uniform number; changes the logits."""
    temperature = fields.parameters[:, TEMPERATURE, None].clamp_min(LEAST_TEMPERATURE)
    probabilities = logits.div_(temperature).softmax(dim=-1)
    if draw is Draw.FILTERED:
        probabilities *= probabilities >= floors(probabilities, fields, widths)
    cumulative = probabilities.cumsum(dim=-1)
    total = cumulative[:, -1:]
    # Below the total even after rounding, so that it never falls behind the last likely token.
    below = torch.nextafter(total, torch.zeros_like(total))
    target = torch.minimum(fields.number[:, None] * total, below)
    return torch.searchsorted(cumulative, target, right=True)[:, 0]
