"""From logits to token ids: `sample`.

The filtered distribution is inverted at one uniform number of the request's own, in the order of
the vocabulary, so a request's tokens depend neither on its company nor on being preempted.

Shapes: R rows that sample, V tokens in the vocabulary.
"""

from __future__ import annotations

import torch

from engine.request import Sequence
from engine.runners.filters import floors
from engine.runners.random_stream import seed_of, uniform

LEAST_TEMPERATURE = 0.01  # colder than that, quotients overflow; vLLM stops there too


def sample(
    logits: torch.Tensor, seqs: list[Sequence], eos_token_ids: frozenset[int]
) -> torch.Tensor:
    """Choose a token for each sequence, greedily where its temperature is 0.

    Args:
        logits: [R, V] in float32; changed in place.
        eos_token_ids: of the model; masked where an end is not allowed.

    Returns:
        [R]; V for a row whose logits are no numbers.
    """
    _mask_ends(logits, seqs, eos_token_ids)
    random = [row for row, seq in enumerate(seqs) if seq.request.sampling.temperature > 0]
    if len(random) == len(seqs):
        return _draw(logits, seqs) if seqs else logits.argmax(dim=-1)
    tokens = logits.argmax(dim=-1)
    if random:
        at = torch.tensor(random, device=logits.device)
        drawn = _draw(logits.index_select(0, at), [seqs[row] for row in random])
        tokens.index_copy_(0, at, drawn)
    return tokens


def _mask_ends(logits: torch.Tensor, seqs: list[Sequence], eos_token_ids: frozenset[int]) -> None:
    """Rule out the tokens that would end a sequence before it may end."""
    rows: list[int] = []
    columns: list[int] = []
    for row, seq in enumerate(seqs):
        sampling = seq.request.sampling
        ends: frozenset[int] = frozenset()
        if seq.num_output_tokens < sampling.min_tokens:
            ends = eos_token_ids | sampling.stop_token_ids
        elif sampling.ignore_eos:
            ends = eos_token_ids
        rows += [row] * len(ends)
        columns += ends
    if rows:
        at_row, at_column = torch.tensor([rows, columns], device=logits.device)
        logits[at_row, at_column] = float("-inf")


def _draw(logits: torch.Tensor, seqs: list[Sequence]) -> torch.Tensor:
    """Draw a token for each row, [R], at its own uniform number; changes the logits."""
    params = [seq.request.sampling for seq in seqs]
    numbers = [uniform(seed_of(seq.request), seq.num_output_tokens) for seq in seqs]
    pairs = list(zip((p.temperature for p in params), numbers, strict=True))
    temperature, number = torch.tensor(pairs, device=logits.device).T[:, :, None]
    probabilities = logits.div_(temperature.clamp_min(LEAST_TEMPERATURE)).softmax(dim=-1)
    if any(p.top_k or p.top_p < 1 or p.min_p for p in params):
        probabilities *= probabilities >= floors(probabilities, params)
    cumulative = probabilities.cumsum(dim=-1)
    total = cumulative[:, -1:]
    # Below the total even after rounding, so that it never falls behind the last likely token.
    target = torch.minimum(number * total, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cumulative, target, right=True)[:, 0]
