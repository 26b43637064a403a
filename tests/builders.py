"""Small builders that the engine's tests share, and what they ask of a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from engine.blocks import BlockPool
from engine.clock import Clock, VirtualClock
from engine.core import EngineCore
from engine.events import Checkpoint, Delivered, EngineInfo, Event, Finished, Token
from engine.log import EventLog
from engine.plan import Plan, Runner
from engine.queues import Queues
from engine.request import FinishReason, Request, SamplingParams, Sequence, Status
from engine.settings import EngineSettings
from engine.tokenizer import Tokenizer, ToyTokenizer
from tests.checked_runner import CheckedRunner

E = TypeVar("E")


def ask(
    request_id: str = "r0",
    num_prompt_tokens: int = 4,
    max_tokens: int = 4,
    arrival: float = 0.0,
    **sampling: Any,
) -> Request:
    prompt = (1,) * num_prompt_tokens
    return Request(request_id, prompt, SamplingParams(max_tokens=max_tokens, **sampling), arrival)


def make_info(max_model_len: int = 8192, num_kv_blocks: int = 4096) -> EngineInfo:
    return EngineInfo(
        "toy", "sim", "-", "-", 0, max_model_len, num_kv_blocks, 16, is_simulated=True
    )


def make_core(
    *requests: Request,
    clock: Clock | None = None,
    log: EventLog | None = None,
    runner: Runner | None = None,
    tokenizer: Tokenizer | None = None,
    info: EngineInfo | None = None,
    cost: float = 1.0,
    **knobs: Any,
) -> EngineCore:
    """A core on simulated hardware, with requests added.

    Args:
        cost: seconds that every pass takes.
        knobs: fields of its settings.
    """
    clock, tokenizer = clock or VirtualClock(), tokenizer or ToyTokenizer()
    settings = EngineSettings(**knobs)
    runner = runner or CheckedRunner(clock, tokenizer.vocab_size, settings.block_size, cost)
    log = EventLog() if log is None else log  # an empty log is falsy
    core = EngineCore(settings, info or make_info(), runner, tokenizer, clock, log)
    for request in requests:
        core.add(request)
    return core


def queue_up(queues: Queues, *lengths: int, max_tokens: int = 4, arrival: float = 0.0) -> None:
    """Let requests r0, r1, ... with prompts of these lengths wait in the queue."""
    for index, length in enumerate(lengths):
        queues.enqueue(Sequence(ask(f"r{index}", length, max_tokens, arrival)))


def make_queues(*lengths: int, num_blocks: int = 64, block_size: int = 4, **more: Any) -> Queues:
    queues = Queues(BlockPool(num_blocks, block_size))
    queue_up(queues, *lengths, **more)
    return queues


def pretend_ran(plan: Plan, token_id: int = 7) -> None:
    """Advance the sequences of a plan as the engine would, each sampling the same token."""
    sampling = [row.seq for row in plan.rows if row.samples]
    for row in plan.rows:
        row.seq.num_computed += row.num_tokens
    for seq in sampling:
        seq.token_ids.append(token_id)
        if seq.num_output_tokens == seq.request.sampling.max_tokens:
            seq.move_to(Status.FINISHED)


def run_out(core: EngineCore, most: int = 200) -> None:
    """Step until nothing is left to do."""
    for _ in range(most):
        if not core.has_work:
            core.step()
            return
        core.flush()
        core.step()
    raise AssertionError(f"still at work after {most} steps")


def rows_of(plan: Plan) -> list[tuple[str, int]]:
    """Which request computes how many tokens."""
    return [(row.seq.id, row.num_tokens) for row in plan.rows]


def events_of(log: EventLog, kind: type[E]) -> list[E]:
    return [event for event in log.since(0)[0] if isinstance(event, kind)]


def outputs_of(log: EventLog) -> dict[str, list[int]]:
    """The token ids that every request was given, in order."""
    outputs: dict[str, list[int]] = {}
    for token in events_of(log, Token):
        outputs.setdefault(token.request_id, []).append(token.token_id)
    return outputs


def texts_of(core: EngineCore, request_id: str) -> list[str]:
    """The text that each token of a request brought, and its end."""
    events = [event for event in core.log.since(0)[0] if isinstance(event, Token | Finished)]
    return [event.text for event in events if event.request_id == request_id]


def deliveries_of(core: EngineCore) -> list[tuple[float, str, int]]:
    """When who got how many tokens."""
    return [(e.time, e.request_id, e.num_tokens) for e in events_of(core.log, Delivered)]


def reasons_of(core: EngineCore) -> dict[str, FinishReason]:
    """Why every request that has ended did."""
    return {event.request_id: event.reason for event in events_of(core.log, Finished)}


def messages_of(core: EngineCore) -> dict[str, str]:
    """What the clients of those that have ended were told."""
    return {event.request_id: event.message for event in events_of(core.log, Finished)}


def without_checkpoints(events: Iterable[Event]) -> Iterator[Event]:
    """The events of a recording as the engine wrote them."""
    return (event for event in events if not isinstance(event, Checkpoint))
