"""What holds for every batcher, whatever arrives, is aborted, switched or fails in mid-run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import methodcaller

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from engine import record
from engine.events import Delivered, Finished, Token
from engine.request import FinishReason, Request, SamplingParams
from engine.run import run
from engine.settings import EngineSettings, OnFull, PassOrder, SchedulingPolicy, TimeoutAction
from engine.workload import Listed
from tests.builders import events_of, make_core, make_info, outputs_of
from tests.checked_runner import CheckedRunner
from tests.observer import Observer
from tests.strategies import ASKED, PROMPTS, SAMPLING, engine_settings

INFO = make_info(max_model_len=48, num_kv_blocks=30)
FAILURES = {FinishReason.ABORT, FinishReason.REJECTED, FinishReason.ERROR}
LONGEST_RUN = 5000  # passes; the workloads below need some hundreds


@pytest.fixture(autouse=True, scope="module")
def frequent_keyframes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "KEYFRAME_STEPS", 3)
        yield


def alone(request: Request) -> tuple[list[int], str]:
    """What a patient client gets from an engine that has nothing else to do."""
    core = make_core(replace(request, cancel_after_tokens=None))
    while core.has_work:
        core.step()
    return outputs_of(core.log).get(request.id, []), text_of(core.log, request.id)


def text_of(log, request_id: str) -> str:
    return "".join(token.text for token in events_of(log, Token) if token.request_id == request_id)


class Session:
    """A live engine under everything that a user and a device can do to it."""

    def __init__(self, chosen: EngineSettings) -> None:
        self.core = make_core(info=INFO)
        self.core.configure(chosen)
        self.observer = Observer(self.core)
        self.requests: list[Request] = []

    def submit(self, asked: list[Request]) -> None:
        for request in asked:
            request_id, now = f"r{len(self.requests)}", self.core.clock.now()
            self.requests.append(replace(request, id=request_id, arrival=now))
            self.core.add(self.requests[-1])

    def step(self, count: int) -> None:
        for _ in range(count):
            self.observer.step()

    def wait(self, seconds: float) -> None:
        self.core.clock.sleep(seconds)

    def configure(self, chosen: EngineSettings) -> None:
        self.core.configure(chosen)

    def abort(self, pick: int) -> None:
        if self.requests:
            self.core.abort(self.requests[pick % len(self.requests)].id)

    def abort_all(self) -> None:
        self.core.abort_all()

    def flush(self) -> None:
        self.core.flush()

    def run_out_of_memory(self) -> None:
        runner = self.core.runner
        assert isinstance(runner, CheckedRunner)
        runner.fails_next = True

    def lose_a_pass(self) -> None:
        runner = self.core.runner
        assert isinstance(runner, CheckedRunner)
        runner.loses_next = True

    def drain(self) -> None:
        """Everything comes to an end, and gives back all it held."""
        for _ in range(LONGEST_RUN):
            if not self.core.has_work:
                break
            self.core.flush()
            self.observer.step()
        assert not self.core.has_work
        self.observer.step()
        assert (self.core.queues.running, self.core.queues.pool.num_used) == ([], 0)

    def check_the_end(self) -> None:
        """Every token was made and delivered exactly once, or there is a reason why not."""
        observer = self.observer
        assert set(observer.finished) == {request.id for request in self.requests}
        answered = [answer.request_id for answer in self.core.take_answered()]
        assert sorted(answered) == sorted(observer.finished)
        outputs = outputs_of(self.core.log)
        for request in self.requests:
            finished, got = observer.finished[request.id], outputs.get(request.id, [])
            want, text = alone(request)
            event(finished.reason.value)
            if finished.reason in FAILURES:
                assert got == want[: len(got)]
                assert finished.message or finished.reason is FinishReason.ABORT
            else:
                assert got == want
                assert text_of(self.core.log, request.id) == text
                assert observer.num_delivered[request.id] == len(got)


def calls(name: str, *arguments: st.SearchStrategy) -> st.SearchStrategy[Callable]:
    return st.builds(methodcaller, st.just(name), *arguments)


ACTIONS = st.one_of(
    calls("step", st.integers(1, 10)),
    calls("step", st.integers(1, 10)),
    calls("submit", ASKED),
    calls("abort", st.integers(0, 99)),
    calls("configure", engine_settings()),
    calls("wait", st.sampled_from([0.1, 2.0])),
    calls("flush"),
    calls("flush"),
    st.sampled_from(["abort_all", "run_out_of_memory", "lose_a_pass"]).flatmap(calls),
)


@settings(max_examples=1000)
@given(chosen=engine_settings(), asked=ASKED, actions=st.lists(ACTIONS, max_size=25))
def test_whatever_happens_to_an_engine_it_keeps_its_promises(chosen, asked, actions):
    session = Session(chosen)
    session.submit(asked)
    for action in actions:
        action(session)
    session.drain()
    session.check_the_end()


def all_that_clients_see(chosen: EngineSettings, requests: list[Request]) -> object:
    """Tokens, text and ends of an engine that is given everything at once."""
    core = make_core(info=INFO)
    core.configure(chosen)
    for request in requests:
        core.add(request)
    core.flush()
    for _ in range(LONGEST_RUN):
        if not core.has_work:
            break
        core.step()
        core.flush()
    ends = {end.request_id: (end.reason, end.message) for end in events_of(core.log, Finished)}
    delivered = Counter()
    for each in events_of(core.log, Delivered):
        delivered[each.request_id] += each.num_tokens
    texts = {request.id: text_of(core.log, request.id) for request in requests}
    return outputs_of(core.log), texts, ends, delivered


@pytest.mark.parametrize("knob", ["async_scheduling", "enable_prefix_caching"])
@settings(max_examples=500)
@given(chosen=engine_settings(default_queue_timeout_ms=0.0), asked=ASKED)
def test_what_only_saves_time_changes_nothing_that_clients_see(knob, chosen, asked):
    requests = [replace(request, id=f"r{index}") for index, request in enumerate(asked)]
    on, off = (replace(chosen, **{knob: is_on}) for is_on in (True, False))
    assert all_that_clients_see(on, requests) == all_that_clients_see(off, requests)


@settings(max_examples=50)
@given(
    policy=st.sampled_from(SchedulingPolicy),
    aging=st.floats(0.5, 10.0),
    worst=st.integers(2, 20),
    timeout=st.sampled_from([0.0, 0.5, 4.0]),
)
def test_with_aging_an_engine_that_is_never_idle_comes_to_the_worst_of_all(
    policy, aging, worst, timeout
):
    """Before every pass, which takes a second and serves one, somebody better comes."""
    core = make_core(
        max_num_seqs=1,
        scheduling_policy=policy,
        aging=aging,
        default_queue_timeout_ms=timeout * 1000,
        timeout_action=TimeoutAction.DELAY,
    )
    prompt, sampling = (1,) * worst, SamplingParams(max_tokens=worst, ignore_eos=True)
    core.add(Request("worst", prompt, sampling, priority=worst))
    num_passes = 0
    while not outputs_of(core.log).get("worst"):
        now = core.clock.now()
        core.add(Request(f"better {now}", (1,), SamplingParams(max_tokens=1), now, priority=1))
        core.step()
        num_passes += 1
        assert num_passes <= worst / aging + timeout + 2


ARRIVALS = st.lists(
    st.tuples(PROMPTS, SAMPLING, st.sampled_from([0.0, 0.5, 4.0])), min_size=1, max_size=8
)


@settings(max_examples=400)
@given(
    chosen=engine_settings(
        num_kv_blocks=40, max_model_len=0, max_queue_size=0, default_queue_timeout_ms=0.0
    ),
    arrivals=ARRIVALS,
)
def test_a_workload_runs_to_its_end_and_every_output_is_as_if_it_ran_alone(chosen, arrivals):
    core = make_core(info=INFO)
    core.configure(chosen)
    requests, now = [], 0.0
    for index, (prompt, sampling, gap) in enumerate(arrivals):
        now += gap
        requests.append(Request(f"r{index}", prompt, sampling, now))
    run(core, Listed(requests))
    assert not core.has_work
    assert core.queues.pool.num_used == 0
    outputs = outputs_of(core.log)
    for request in requests:
        fits = request.prompt_token_ids and request.max_num_tokens <= INFO.max_model_len
        if fits and core.queues.pool.blocks_for(request.max_num_tokens) <= 40:
            assert outputs[request.id] == alone(request)[0]
        else:
            assert request.id not in outputs


@settings(max_examples=100)
@given(
    lengths=st.lists(st.integers(1, 20), min_size=2, max_size=6),
    block_size=st.integers(1, 4),
    max_tokens=st.integers(1, 12),
    on_full=st.sampled_from(OnFull),
    caches=st.booleans(),
)
def test_a_cache_with_room_for_one_ends_all_of_them(
    lengths, block_size, max_tokens, on_full, caches
):
    """However often they push each other out, the oldest makes progress."""
    num_blocks = -(-(max(lengths) + max_tokens) // block_size)
    core = make_core(
        num_kv_blocks=num_blocks,
        block_size=block_size,
        on_full=on_full,
        enable_prefix_caching=caches,
    )
    requests = [
        Request(f"r{index}", (1,) * length, SamplingParams(max_tokens=max_tokens))
        for index, length in enumerate(lengths)
    ]
    for request in requests:
        core.add(request)
    observer = Observer(core)
    for _ in range(LONGEST_RUN):
        if not core.has_work:
            break
        oldest = min(core.queues.running + list(core.queues.waiting), key=lambda seq: seq.id)
        num_computed = oldest.num_computed
        observer.step()
        assert oldest.num_computed > num_computed or oldest.is_finished
    assert outputs_of(core.log) == {request.id: alone(request)[0] for request in requests}


@settings(max_examples=100)
@given(
    lengths=st.lists(st.integers(1, 20), min_size=2, max_size=6),
    policy=st.sampled_from(SchedulingPolicy),
    pass_order=st.sampled_from(PassOrder),
    on_full=st.sampled_from(OnFull),
    watermark=st.sampled_from([0.0, 0.3]),
)
def test_a_small_cache_ends_all_of_them_under_every_policy(
    lengths, policy, pass_order, on_full, watermark
):
    """Nobody is pushed out and taken in again for ever."""
    core = make_core(
        num_kv_blocks=8,
        block_size=4,
        scheduling_policy=policy,
        pass_order=pass_order,
        on_full=on_full,
        watermark=watermark,
    )
    requests = [
        Request(f"r{at}", (1,) * length, SamplingParams(max_tokens=12), priority=at % 3)
        for at, length in enumerate(lengths)
    ]
    for request in requests:
        core.add(request)
    observer = Observer(core)
    for _ in range(LONGEST_RUN):
        if not core.has_work:
            break
        observer.step()
    assert outputs_of(core.log) == {request.id: alone(request)[0] for request in requests}


@settings(max_examples=60)
@given(chunk=st.integers(1, 40), length=st.integers(1, 30), threshold=st.integers(0, 9))
def test_a_prompt_in_chunks_of_any_size_gives_the_same_output(chunk, length, threshold):
    request = Request("r0", (1,) * length, SamplingParams(max_tokens=5))
    core = make_core(
        request,
        max_num_seqs=1,
        max_num_batched_tokens=chunk,
        long_prefill_token_threshold=threshold,
    )
    plans = []
    while core.has_work:
        plans.append(core.step())
    width = min(chunk, threshold or chunk)
    assert len(plans) == -(-length // width) + 4
    assert outputs_of(core.log) == {"r0": alone(replace(request))[0]}
