"""`CheckedRunner`: simulated hardware that refuses what a real device could not compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from engine.clock import Clock
from engine.plan import Launch, PassTiming, Plan, RunnerError
from engine.request import PENDING, Sequence, Status
from engine.runners.sim import SimRunner


@dataclass(frozen=True)
class PerPass:
    """A cost model for tests that read times: every pass takes as long."""

    cost: float = 1.0

    def seconds(self, plan: Plan) -> float:
        return self.cost


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
