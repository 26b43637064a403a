"""What is refused before it enters the queue, and the words in which the client is told."""

from __future__ import annotations

from engine.blocks import BlockPool
from engine.queues import Queues
from engine.request import Request
from engine.settings import EngineSettings


def queue_problem(queues: Queues, settings: EngineSettings) -> str | None:
    """Why nobody can join the queue now, or None."""
    if 0 < settings.max_queue_size <= len(queues.waiting):
        return f"queue is full ({len(queues.waiting)} waiting)"
    return None


def refusal(request: Request, pool: BlockPool, max_model_len: int, vocab_size: int) -> str | None:
    """Why this engine could never serve the request, or None.

    That whatever is accepted fits the cache is also what keeps preemption free of livelock.
    """
    prompt, max_tokens = request.prompt_token_ids, request.sampling.max_tokens
    if not prompt:
        return "the prompt is empty"
    if problem := request.sampling.problem():
        return problem
    strange = next((i for i in prompt if not 0 <= i < vocab_size), None)
    if strange is not None:
        return f"token id {strange} is outside the vocabulary of {vocab_size}"
    if request.max_num_tokens > max_model_len:
        return (
            f"{len(prompt)} prompt + {max_tokens} output tokens exceed the context "
            f"of {max_model_len}"
        )
    need = pool.blocks_for(request.max_num_tokens)
    if need > pool.num_blocks:
        reserve = f" with {pool.reserve_tokens} reserved" if pool.reserve_tokens else ""
        return (
            f"{len(prompt)} prompt + {max_tokens} output tokens{reserve} need {need} KV blocks; "
            f"the cache has {pool.num_blocks}"
        )
    return None
