"""One request's life, stage by stage, read from the log of an engine with a clock of its own."""

from __future__ import annotations

import pytest

from engine.events import Configured
from engine.request import FinishReason
from engine.settings import BatcherName, Delivery, EngineSettings
from tests.builders import ask, make_core
from tuiapp.explain import LifeReader, Stage

STATIC = {"batcher": BatcherName.STATIC, "max_batch_size": 2}


def life_of(core, request_id, num_passes):
    """After so many passes of a second each."""
    for _ in range(num_passes):
        core.step()
    return LifeReader(core.log, request_id).read(core.clock.now())


def stages(life):
    return [(span.stage, span.start, span.end) for span in life.spans]


def test_a_request_alone_is_read_and_then_decodes():
    life = life_of(make_core(ask("a", 4, max_tokens=3)), "a", 4)
    assert stages(life) == [(Stage.PREFILL, 0.0, 1.0), (Stage.DECODE, 1.0, 3.0)]
    assert (life.ttft, life.e2e, life.gaps) == (1.0, 3.0, (1.0, 1.0))
    assert (life.first_pass, life.last_pass, life.slot) == (1, 3, 0)
    assert life.reason is FinishReason.LENGTH


def test_a_long_prompt_is_read_in_chunks():
    core = make_core(ask("a", 10, max_tokens=2), max_num_batched_tokens=8, max_num_seqs=2)
    life = life_of(core, "a", 3)
    assert stages(life) == [(Stage.PREFILL, 0.0, 2.0), (Stage.DECODE, 2.0, 3.0)]
    assert (life.num_chunks, life.num_prefilled) == (2, 10)


def test_who_finds_no_slot_is_queued():
    core = make_core(ask("a", 4, max_tokens=3), ask("b", 4, max_tokens=2), max_num_seqs=1)
    life = life_of(core, "b", 5)
    assert stages(life) == [
        (Stage.QUEUED, 0.0, 3.0),
        (Stage.PREFILL, 3.0, 4.0),
        (Stage.DECODE, 4.0, 5.0),
    ]
    assert life.waterfall[0].num_passes == 3


def test_a_batch_is_waited_for_and_held_until_its_last_is_done():
    core = make_core(ask("short", 4, max_tokens=1), **STATIC)
    core.step()
    core.clock.sleep(2.0)
    core.add(ask("long", 4, max_tokens=3, arrival=2.0))
    life = life_of(core, "short", 3)
    assert stages(life) == [
        (Stage.BATCH_WAIT, 0.0, 2.0),
        (Stage.PREFILL, 2.0, 3.0),
        (Stage.HELD, 3.0, 5.0),
    ]
    assert [(part.stage, part.seconds) for part in life.waterfall] == [
        (Stage.BATCH_WAIT, 2.0),
        (Stage.PREFILL, 1.0),
        (Stage.HELD, 2.0),
    ]
    assert (life.ttft, life.e2e, life.gaps) == (5.0, 5.0, ())


def test_what_is_delivered_at_once_may_still_hold_its_slot():
    knobs = STATIC | {"deliver": Delivery.STREAM}
    core = make_core(ask("short", 4, max_tokens=1), ask("long", 4, max_tokens=3), **knobs)
    life = life_of(core, "short", 3)
    assert stages(life) == [(Stage.PREFILL, 0.0, 1.0), (Stage.HELD, 1.0, 3.0)]
    assert (life.ttft, life.e2e) == (1.0, 1.0)


def test_a_late_batch_waits_for_the_one_that_runs():
    core = make_core(*[ask(name, 4, max_tokens=2) for name in "abcd"], **STATIC)
    life = life_of(core, "c", 4)
    assert stages(life)[0] == (Stage.BATCH_WAIT, 0.0, 2.0)


def test_an_evicted_request_waits_and_computes_again_what_it_lost():
    requests = [ask(name, 30, max_tokens=40) for name in "abc"]
    core = make_core(*requests, num_kv_blocks=7)
    life = life_of(core, "c", 50)
    assert [span.stage for span in life.spans] == [
        Stage.PREFILL,
        Stage.DECODE,
        Stage.EVICTED,
        Stage.REDONE,
        Stage.DECODE,
    ]
    redone = next(span for span in life.spans if span.stage is Stage.REDONE)
    assert life.num_preemptions == 1
    assert redone.num_tokens == 33  # its prompt and its three tokens
    assert (life.worst.evicted_in, life.worst.num_passes, life.worst.num_lost) == (4, 38, 32)


def test_blocks_are_followed_as_they_are_taken_and_given_back():
    core = make_core(ask("a", 15, max_tokens=4))
    life = life_of(core, "a", 3)
    assert life.blocks == ((0.0, 1), (2.0, 2))
    assert life.block_table == (0, 1)
    assert [life.blocks_at(time) for time in (-1.0, 0.0, 1.9, 2.0)] == [0, 1, 1, 2]
    after = life_of(core, "a", 2)
    assert after.blocks[-1] == (4.0, 0)
    assert (after.most_blocks, after.block_table) == (2, ())


def test_an_abort_ends_a_life_at_once():
    core = make_core(ask("a", 4, max_tokens=9))
    core.step()
    core.abort("a")
    life = life_of(core, "a", 1)
    assert stages(life) == [(Stage.PREFILL, 0.0, 1.0)]
    assert (life.reason, life.e2e) == (FinishReason.ABORT, None)


def test_a_refused_request_has_a_life_without_length():
    life = life_of(make_core(ask("a", 9000)), "a", 1)
    assert (life.spans, life.end, life.ttft) == ((), 0.0, None)
    assert "exceed the context" in life.message


def test_a_life_goes_on_where_the_batcher_changed():
    core = make_core(ask("a", 4, max_tokens=4))
    core.step()
    core.configure(EngineSettings(batcher=BatcherName.STATIC, max_batch_size=1))
    life = life_of(core, "a", 3)
    assert [span.stage for span in life.spans] == [Stage.PREFILL, Stage.DECODE]
    assert life.e2e == 4.0


def test_a_life_begins_over_where_its_blocks_were_taken():
    core = make_core(ask("a", 4, max_tokens=4))
    core.step()
    core.preempt_all()
    life = life_of(core, "a", 3)
    assert [span.stage for span in life.spans] == [Stage.PREFILL, Stage.REDONE, Stage.DECODE]
    assert life.e2e == 4.0


@pytest.mark.parametrize("num_passes", [1, 3])
def test_a_reader_reads_on_as_the_log_grows(num_passes):
    core = make_core(ask("a", 4, max_tokens=9))
    reader = LifeReader(core.log, "a")
    for _ in range(6 // num_passes):
        for _ in range(num_passes):
            core.step()
        life = reader.read(core.clock.now())
    assert life == LifeReader(core.log, "a").read(core.clock.now())
    assert life.num_output_tokens == 6


def test_a_reader_with_an_end_sees_nothing_after_it():
    core = make_core(ask("a", 4, max_tokens=9))
    core.step()
    past = LifeReader(core.log, "a", until=len(core.log))
    before = past.read(1.0)
    for _ in range(4):
        core.step()
    core.log.append(Configured(9.0, EngineSettings()))
    assert past.read(1.0) == before
    assert before.num_output_tokens == 1


def test_of_a_request_that_never_came_nothing_is_told():
    assert LifeReader(make_core().log, "a").read(0.0) is None
