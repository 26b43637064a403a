"""`Forward`: the model as a function from ids and positions to logits."""

from __future__ import annotations

from inspect import signature

import torch
from transformers import PreTrainedModel


class Forward:
    """Calls the model, whatever it calls the logits that it should compute.

    Attributes:
        vocab_size: of the logits; known once they were computed.

    Shapes: T tokens in the pass, R rows that sample, V tokens in the vocabulary.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self.vocab_size = 0
        self._model = model
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
