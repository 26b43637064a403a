"""How long a decoding pass takes on the device at hand, for workloads that are timed in passes."""

from __future__ import annotations

from statistics import median

from engine.core import EngineCore
from engine.cost import Linear
from engine.plan import Plan, Row, RunnerError
from engine.request import Request, SamplingParams, Sequence, Status

PROMPT, PASSES = 16, 9
REFERENCE = Linear()  # the device that the presets were made for: 12 ms a pass


def measure_pace(core: EngineCore) -> float:
    """How much slower a decoding pass of one sequence is here than on the reference device.

    A few passes are run past the scheduler and the log, in blocks that nobody needs; nothing may
    be running.

    Raises:
        RunnerError: a pass failed, or the cache is too small for it.
    """
    assert not core.queues.running, "other passes would be measured with it"
    request = Request("pace", (1,) * PROMPT, SamplingParams(max_tokens=PASSES, ignore_eos=True))
    seq = Sequence(request, slot=0, status=Status.RUNNING)
    pool = core.queues.pool
    if not pool.grow(seq, PROMPT + PASSES):
        num_blocks = pool.blocks_for(PROMPT + PASSES)
        raise RunnerError(f"the pace is measured in {num_blocks} KV blocks, more than there are")
    try:
        _run(core, seq, PROMPT)
        return median(_run(core, seq, 1) for _ in range(PASSES - 1))
    finally:
        pool.release(seq)
        pool.forget(seq)  # it is no request of anybody's, and no recording should tell of it


def _run(core: EngineCore, seq: Sequence, num_tokens: int) -> float:
    """Run one pass; return how long it took by how long the reference device takes."""
    plan = Plan((Row(seq, num_tokens),))
    expected = REFERENCE.seconds(plan)
    began = core.clock.now()
    seq.token_ids += core.runner.launch(plan).result()
    seq.num_computed += num_tokens
    return (core.clock.now() - began) / expected
