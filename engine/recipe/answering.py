"""Let a saved model answer prompts, many at a time, and measure the answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.recipe.tokenizer import END_ID


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model wrote.

    Attributes:
        num_tokens: Length with the end token.
        has_ended: Whether the model itself ended the answer.
    """

    text: str
    num_tokens: int
    has_ended: bool


class Answerer:
    """A saved model with its tokenizer, sampling as its generation config says."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self._model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)

    def answer(self, prompts: Sequence[str], seed: int, max_tokens: int = 640) -> list[Answer]:
        """Answer the prompts in one batch."""
        torch.manual_seed(seed)
        chats = [[{"role": "user", "content": prompt}] for prompt in prompts]
        inputs = self.tokenizer.apply_chat_template(
            chats, add_generation_prompt=True, padding=True, return_tensors="pt", return_dict=True
        )
        with torch.inference_mode():
            rows = self._model.generate(**inputs, max_new_tokens=max_tokens)
        return [self._read(row) for row in rows[:, inputs["input_ids"].shape[1] :]]

    def cut(self, text: str, start: int, num_tokens: int) -> str:
        """Return the text of the tokens from `start` on."""
        ids = self.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids
        return str(self.tokenizer.decode(ids[start : start + num_tokens]))

    def _read(self, row: Tensor) -> Answer:
        ids = row.tolist()
        has_ended = END_ID in ids
        ids = ids[: ids.index(END_ID) + 1] if has_ended else ids
        text = self.tokenizer.decode(ids, skip_special_tokens=True)
        return Answer(text, len(ids), has_ended)


def percentiles(counts: Sequence[int]) -> list[int]:
    """Return the 10th, 50th and 90th percentile."""
    ordered = sorted(counts)
    return [ordered[round(share * (len(ordered) - 1))] for share in (0.1, 0.5, 0.9)]
