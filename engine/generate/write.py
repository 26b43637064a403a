"""From drafts to requests: the prompts get their text and the sampling its seeds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.generate.streams import stream
from engine.generate.traffic import Draft
from engine.prompts import PromptMaker
from engine.request import Request, SamplingParams

TEMPERATURE, TOP_P = 0.8, 0.95
SEEDS = 2**31


def write(drafts: Iterable[Draft], prompts: PromptMaker, seed: int) -> list[Request]:
    """Write out requests, in the order of the drafts; outputs have the drafted length exactly.

    Args:
        seed: of the workload; every label draws from streams of its own.
    """
    drafts = list(drafts)
    labels = {draft.label for draft in drafts}
    text = {label: stream(seed, label, "text") for label in labels}
    sampling = {label: stream(seed, label, "sampling") for label in labels}
    return [_write(draft, prompts, text[draft.label], sampling[draft.label]) for draft in drafts]


def sample_output(num_tokens: int, rng: np.random.Generator, *, ignore_eos: bool) -> SamplingParams:
    """Sample as chat models usually are, up to `num_tokens` tokens."""
    return SamplingParams(
        temperature=TEMPERATURE,
        top_p=TOP_P,
        seed=int(rng.integers(SEEDS)),
        max_tokens=num_tokens,
        ignore_eos=ignore_eos,
    )


def _write(
    draft: Draft, prompts: PromptMaker, text: np.random.Generator, sampling: np.random.Generator
) -> Request:
    if draft.num_prompt_tokens is None:
        prompt = prompts.chat(draft.text)
    else:
        prompt = prompts.make(draft.num_prompt_tokens, text)
    params = sample_output(draft.num_output_tokens, sampling, ignore_eos=True)
    return Request(draft.id, prompt, params, draft.arrival, draft.label)
