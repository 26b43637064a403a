"""From drafts to requests: the prompts get their text and the sampling its seeds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.generate.draft import Draft
from engine.generate.streams import stream
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
    maker = prompts.cut_from(draft.filler) if draft.filler else prompts
    if draft.num_prompt_tokens is None:
        prompt = maker.chat(draft.text)
    else:
        prompt = maker.make(draft.num_prompt_tokens, text, _opening(draft, maker))
    num_output = draft.num_output_tokens or max(1, prompts.count(draft.answer))
    params = sample_output(num_output, sampling, ignore_eos=True)
    leaves = draft.cancel_after_tokens
    return Request(
        draft.id, prompt, params, draft.arrival, draft.label, leaves, priority=draft.priority
    )


def _opening(draft: Draft, maker: PromptMaker) -> tuple[int, ...]:
    """What all prompts of its group begin with; the same for every seed of the workload."""
    if draft.group is None:
        return ()
    rng = stream(draft.group, draft.label, "opening")
    return maker.filler(draft.num_prefix_tokens, rng)
