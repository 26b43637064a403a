"""Small builders that the engine's tests share, and a runner that checks what it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, TypeVar

from engine.blocks import BlockPool
from engine.clock import Clock, VirtualClock
from engine.core import EngineCore
from engine.events import Checkpoint, Delivered, EngineInfo, Event, Finished, Token
from engine.log import EventLog
from engine.plan import Launch, PassTiming, Plan, Runner, RunnerError
from engine.queues import Queues
from engine.request import PENDING, FinishReason, Request, SamplingParams, Sequence, Status
from engine.runners.sim import SimRunner
from engine.settings import EngineSettings
from engine.tokenizer import Tokenizer, ToyTokenizer

E = TypeVar("E")


@dataclass(frozen=True)
class PerPass:
    """A cost model for tests that read times: every pass takes as long."""

    cost: float = 1.0

    def seconds(self, plan: Plan) -> float:
        return self.cost


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


class CheckedRunner(SimRunner):
    """A simulated runner that refuses what a real one could not compute.

    Attributes:
        fails_next: the next pass fails as if the device's memory had run out.
        loses_next: the next pass begins, and fails once its tokens are asked for.
    """

    def __init__(self, clock: Clock, vocab_size: int, block_size: int, cost: float = 1.0) -> None:
        super().__init__(clock, PerPass(cost), vocab_size)
        self.memory = KvMemory(block_size)
        self.fails_next = False
        self.loses_next = False

    def launch(self, plan: Plan) -> Launch:
        check_plan(plan, self.memory.block_size)
        self.memory.run(plan, is_broken=self.fails_next)
        if self.fails_next:
            self.fails_next = False
            raise RunnerError("out of memory")
        seqs = [row.seq for row in plan.rows if row.samples]
        self.memory.sample(seqs, [self._token(seq) for seq in seqs])
        launch = super().launch(plan)
        if self.loses_next:
            self.loses_next = False
            return Lost(launch, partial(self.memory.spoil, self.memory.places_of(plan)))
        return launch

    def resize(self, num_blocks: int, block_size: int) -> None:
        self.memory = KvMemory(block_size)


@dataclass
class Lost:
    """A launch whose result never comes.

    Attributes:
        spoil: leaves nothing sensible where the pass was to write.
    """

    launch: Launch
    spoil: Callable[[], None]

    @property
    def mode(self) -> str:
        return self.launch.mode

    @property
    def timing(self) -> PassTiming:
        return self.launch.timing

    def result(self) -> list[int]:
        self.spoil()
        raise RunnerError("the device is gone")


class KvMemory:
    """What every slot of a KV cache holds: the token, and all tokens before it.

    A row may only attend to what its own tokens would have put there, so that a block that is
    shared or handed on by mistake does not go unnoticed.
    """

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self._cells: dict[tuple[int, int], int | None] = {}  # by block and offset
        self._newest: dict[Sequence, int] = {}  # token that was sampled last

    def run(self, plan: Plan, *, is_broken: bool = False) -> None:
        """Write what a pass computes, or rubbish, and check what it reads."""
        for row in plan.rows:
            hashes = self._hashes(row.seq)
            end = row.seq.num_computed + row.num_tokens
            for position in range(row.seq.num_computed, end):
                self._cells[self._place(row.seq, position)] = (
                    None if is_broken else hashes[position]
                )
        for row in plan.rows if not is_broken else ():
            hashes = self._hashes(row.seq)
            for position in range(row.seq.num_computed + row.num_tokens):
                held = self._cells.get(self._place(row.seq, position))
                assert held == hashes[position], f"{row.seq.id} reads what is not its own"

    def places_of(self, plan: Plan) -> list[tuple[int, int]]:
        """Where a pass writes."""
        return [
            self._place(row.seq, position)
            for row in plan.rows
            for position in range(row.seq.num_computed, row.seq.num_computed + row.num_tokens)
        ]

    def spoil(self, places: list[tuple[int, int]]) -> None:
        """Put rubbish there."""
        self._cells.update(dict.fromkeys(places))

    def sample(self, seqs: list[Sequence], token_ids: list[int]) -> None:
        """Remember tokens that the next pass may need before anybody has taken them."""
        self._newest |= zip(seqs, token_ids, strict=True)

    def _hashes(self, seq: Sequence) -> list[int]:
        *before, newest = seq.token_ids
        return prefix_hashes([*before, self._newest[seq] if newest == PENDING else newest])

    def _place(self, seq: Sequence, position: int) -> tuple[int, int]:
        return seq.block_table[position // self.block_size], position % self.block_size


def prefix_hashes(token_ids: list[int]) -> list[int]:
    """For every position a number that all tokens up to it decide."""
    return list(accumulate(token_ids, lambda before, token: hash((before, token)), initial=0))[1:]


def check_plan(plan: Plan, block_size: int) -> None:
    """Every row runs, has a slot, fits into its blocks, and writes to none that another writes to.

    Others may hold a block that is written, if their own tokens come behind it.
    """
    assert plan.rows, "an empty plan was launched"
    assert len({row.seq.slot for row in plan.rows}) == len(plan.rows)
    writers: Counter[int] = Counter()
    for row in plan.rows:
        seq = row.seq
        assert seq.slot is not None
        assert len(seq.block_table) == len(set(seq.block_table))
        end = seq.num_computed + row.num_tokens
        assert end <= len(seq.block_table) * block_size
        written = seq.block_table[seq.num_computed // block_size :] if row.num_tokens else ()
        writers.update(written)
        if seq.is_finished or not seq.num_uncomputed:  # its last token may be under way
            assert row.num_tokens == 0
            assert plan.rectangular
        else:
            assert seq.status is Status.RUNNING
            assert 1 <= row.num_tokens <= seq.num_uncomputed
    assert set(writers.values()) <= {1}, "two rows write to a block"


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
