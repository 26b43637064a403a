"""Pack whole documents, one behind the other, into batches of a single row.

No document is cut or dropped. Positions begin anew with each document, and the lengths let the
attention keep the documents apart. All rows have the same length, for which the matrix kernels
are then prepared only once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.recipe.tokenizer import ASSISTANT_ID, PAD_ID, USER_ID

MAX_PADDING = 32


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents in one row of T tokens.

    Attributes:
        ids: Token ids, [1, T].
        positions: Position of each token in its document, [1, T].
        lengths: Number of tokens of each document; they add up to T.
        weights: Weight of the loss of predicting the next token, [T]; 0 at a document's end.
    """

    ids: Tensor
    positions: Tensor
    lengths: list[int]
    weights: Tensor


def pack(
    documents: Iterable[Sequence[int]], row_tokens: int, prompt_weight: float
) -> Iterator[Batch]:
    """Yield rows of one length, each filled with whole documents and a little padding.

    A document that does not fit into the rest of a row waits for the next one. One that is longer
    than a row gets a longer row for itself.
    """
    row: list[Sequence[int]] = []
    waiting: list[Sequence[int]] = []
    for document in documents:
        if len(document) > row_tokens:
            yield join([document], len(document), prompt_weight)
        elif _room(row, row_tokens) >= len(document):
            row.append(document)
        else:
            waiting.append(document)
        if _room(row, row_tokens) < MAX_PADDING:
            yield join(row, row_tokens, prompt_weight)
            row, waiting = _first_fit(waiting, row_tokens)
    while row:
        yield join(row, row_tokens, prompt_weight)
        row, waiting = _first_fit(waiting, row_tokens)


def _first_fit(
    waiting: Iterable[Sequence[int]], row_tokens: int
) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
    """Return the waiting documents that fit into a new row, and those that still wait."""
    row: list[Sequence[int]] = []
    left: list[Sequence[int]] = []
    for document in waiting:
        (row if _room(row, row_tokens) >= len(document) else left).append(document)
    return row, left


def join(row: Sequence[Sequence[int]], row_tokens: int, prompt_weight: float) -> Batch:
    """Return the documents as one batch; the padding is a document of weight 0."""
    padding = _room(row, row_tokens)
    documents = [*row, [PAD_ID] * padding] if padding else list(row)
    weights = [_weights(document, prompt_weight) for document in row]
    return Batch(
        ids=torch.tensor([[token for document in documents for token in document]]),
        positions=torch.cat([torch.arange(len(document)) for document in documents])[None],
        lengths=[len(document) for document in documents],
        weights=torch.cat([*weights, torch.zeros(padding)]),
    )


def _room(row: Iterable[Sequence[int]], row_tokens: int) -> int:
    return row_tokens - sum(map(len, row))


def _weights(document: Sequence[int], prompt_weight: float) -> Tensor:
    """Return one weight a token: that of the token which follows it."""
    weights = []
    is_prompt = False
    for token in document[1:]:
        weights.append(prompt_weight if is_prompt else 1.0)
        is_prompt = token == USER_ID or (is_prompt and token != ASSISTANT_ID)
    return torch.tensor([*weights, 0.0])
