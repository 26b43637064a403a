"""The requests that all contenders serve, all there at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.prompts import PromptMaker
from engine.request import Request, SamplingParams
from engine.settings import EngineSettings
from engine.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Traffic:
    """How many requests of which lengths, and how many run at once.

    Attributes:
        prompt_tokens, output_tokens: drawn evenly from least to most; no output ends early.
        num_batched_tokens: the token budget of a pass, for contenders that have one.
    """

    num_requests: int = 64
    num_slots: int = 8
    prompt_tokens: tuple[int, int] = (16, 256)
    output_tokens: tuple[int, int] = (5, 200)
    num_batched_tokens: int = 512
    seed: int = 0

    @property
    def longest(self) -> int:
        """Prompt and output together at most, in tokens."""
        return self.prompt_tokens[1] + self.output_tokens[1]

    def draw(self, tokenizer: Tokenizer) -> list[Request]:
        """The requests; the same for the same seed and tokenizer."""
        prompts, rng = PromptMaker(tokenizer), np.random.default_rng(self.seed)
        return [
            Request(
                f"b{number}",
                tuple(prompts.make(int(rng.integers(*self.prompt_tokens, endpoint=True)), rng)),
                SamplingParams(
                    max_tokens=int(rng.integers(*self.output_tokens, endpoint=True)),
                    ignore_eos=True,
                ),
            )
            for number in range(self.num_requests)
        ]

    def settings(self) -> EngineSettings:
        """Of this engine, with a cache for the longest requests in every slot."""
        return EngineSettings(
            max_num_seqs=self.num_slots,
            max_batch_size=self.num_slots,
            max_num_batched_tokens=self.num_batched_tokens,
            long_prefill_token_threshold=0,
            max_model_len=self.longest,
        )
