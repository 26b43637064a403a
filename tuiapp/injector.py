"""`Injector`: requests of the user's own, which stand out on the screen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.backends.base import Backend
from engine.prompts import PromptMaker
from engine.request import Request, SamplingParams

BURST_SIZE = 24
BURST_OUTPUTS = (8, 12, 16, 24, 32, 48, 96, 192)
BURST_PROMPTS = (16, 24, 32, 48, 64, 96, 160, 320)


class Injector:
    """Submits requests beside whatever else arrives, and knows which they are.

    Args:
        prompts: who makes prompts; it gives None until the engine is ready.
        seed: of the bursts.

    Attributes:
        num_injected: requests so far.
    """

    def __init__(
        self, backend: Backend, prompts: Callable[[], PromptMaker | None], seed: int
    ) -> None:
        self.num_injected = 0
        self._backend = backend
        self._prompts = prompts
        self._mine: set[str] = set()
        self._rng = np.random.default_rng(seed)

    def is_mine(self, request_id: str) -> bool:
        """Whether the user injected this request, rather than a workload."""
        return request_id in self._mine

    def next_ids(self, count: int) -> list[str]:
        """The names that the next injected requests will get."""
        return [f"u{self.num_injected + index}" for index in range(count)]

    def inject(
        self, prompts: list[tuple[int, ...]], sampling: list[SamplingParams], priority: int = 0
    ) -> None:
        """Submit requests under the next names."""
        ids = self.next_ids(len(prompts))
        self.num_injected += len(prompts)
        self._mine.update(ids)
        for request_id, prompt, params in zip(ids, prompts, sampling, strict=True):
            self._backend.submit(Request(request_id, prompt, params, priority=priority))

    def inject_wish(
        self, text: str, prompt_tokens: int, output_tokens: int, count: int, priority: int = 0
    ) -> None:
        """Inject like requests: a text's, or with prompts of a length and exact outputs."""
        maker = self._prompts()
        if maker is None:
            return
        prompts = [
            maker.chat(text) if text else maker.make(prompt_tokens, self._rng) for _ in range(count)
        ]
        sampling = [self.sampling(output_tokens, exact=not text) for _ in prompts]
        self.inject(prompts, sampling, priority)

    def burst(self) -> int:
        """Inject two dozen requests of varied length; return how many, 0 before it is ready."""
        maker = self._prompts()
        if maker is None:
            return 0
        lengths = self._rng.choice(BURST_PROMPTS, BURST_SIZE)
        outputs = self._rng.choice(BURST_OUTPUTS, BURST_SIZE)
        prompts = [maker.make(int(length), self._rng) for length in lengths]
        self.inject(prompts, [self.sampling(int(tokens), exact=True) for tokens in outputs])
        return BURST_SIZE

    def sampling(self, max_tokens: int, *, exact: bool) -> SamplingParams:
        """How an injected request is sampled, with a seed of its own.

        Args:
            exact: the output reaches `max_tokens`, whatever the model would say.
        """
        return SamplingParams(
            temperature=0.8,
            top_p=0.95,
            seed=int(self._rng.integers(2**31)),
            max_tokens=max_tokens,
            ignore_eos=exact,
        )
