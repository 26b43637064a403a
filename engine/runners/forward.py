"""`Forward`: the model as a function from ids and positions to logits."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import torch
from transformers import PreTrainedModel


class Forward:
    """Calls the model, whatever it calls the logits that it should compute.

    Args:
        compiler: a backend of `torch.compile`; None calls the model as it is. One compilation
            serves passes of any size, and another those of one token.

    Attributes:
        vocab_size: of the logits; known once they were computed.

    Shapes: T tokens in the pass, R rows that sample, V tokens in the vocabulary.
    """

    def __init__(self, model: PreTrainedModel, compiler: str | None = None) -> None:
        self.vocab_size = 0
        self._model: Callable[..., Any] = model
        if compiler:
            self._model = torch.compile(model, backend=compiler, dynamic=True)
        self._takes_indices = "logits_to_keep" in signature(model.forward).parameters

    def __call__(
        self, token_ids: torch.Tensor, positions: torch.Tensor, sample_at: torch.Tensor
    ) -> torch.Tensor:
        """Logits behind the tokens at `sample_at`, [R, V], in float32.

        Args:
            token_ids, positions: [T].
            sample_at: [R].
        """
        options = {"logits_to_keep": sample_at} if self._takes_indices else {}
        output = self._model(
            input_ids=token_ids[None], position_ids=positions[None], use_cache=False, **options
        )
        logits: torch.Tensor = output.logits[0]
        self.vocab_size = logits.shape[1]
        return (logits if self._takes_indices else logits.index_select(0, sample_at)).float()
