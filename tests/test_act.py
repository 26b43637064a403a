from __future__ import annotations

import pytest

from engine.act import act
from engine.actions import Abort, Cancel, Change, Note, Pick
from engine.events import Failed, Finished, Noted
from engine.request import FinishReason
from engine.settings import BatcherName
from tests.builders import ask, events_of, make_core


def crowd(**knobs):
    """Three requests, of which two run."""
    core = make_core(*(ask(f"r{i}", arrival=float(i)) for i in range(3)), max_num_seqs=2, **knobs)
    core.step()
    return core


def aborted(core) -> list[str]:
    return [e.request_id for e in events_of(core.log, Finished) if e.reason is FinishReason.ABORT]


def test_a_request_is_added():
    core = make_core()
    act(core, ask("a"))
    assert [seq.id for seq in core.queues.waiting] == ["a"]


def test_one_client_goes_away():
    core = crowd()
    act(core, Abort(0.0, "r1"))
    act(core, Abort(0.0, "nobody"))
    assert aborted(core) == ["r1"]


@pytest.mark.parametrize(
    ("pick", "count", "gone"),
    [
        (Pick.OLDEST, 1, ["r0"]),
        (Pick.NEWEST, 2, ["r2", "r1"]),
        (Pick.OLDEST, None, ["r0", "r1", "r2"]),
        (Pick.OLDEST, 9, ["r0", "r1", "r2"]),
    ],
)
def test_some_clients_go_away_whether_they_wait_or_run(pick, count, gone):
    core = crowd()
    act(core, Cancel(0.0, pick=pick, count=count))
    assert aborted(core) == gone


def test_a_random_choice_is_the_same_for_the_same_seed():
    chosen = []
    for seed in (1, 1, 2, 3, 4, 5):
        core = crowd()
        act(core, Cancel(0.0, pick=Pick.RANDOM, count=1, seed=seed))
        chosen += aborted(core)
    assert chosen[0] == chosen[1]
    assert len(set(chosen)) > 1


def test_only_requests_of_the_label_go():
    core = crowd()
    act(core, Cancel(0.0, label="others"))
    assert aborted(core) == []


def test_a_request_that_is_finished_and_waits_for_its_batch_stays():
    core = make_core(ask("short", max_tokens=1), ask("long"), batcher=BatcherName.STATIC)
    core.flush()
    core.step()
    act(core, Cancel(0.0))
    assert aborted(core) == ["long"]


def test_a_knob_is_turned():
    core = crowd()
    act(core, Change(0.0, {"max_num_seqs": 5}))
    assert core.settings.max_num_seqs == 5


def test_settings_that_do_not_go_together_are_told_and_change_nothing():
    core = crowd()
    act(core, Change(0.0, {"max_num_batched_tokens": 1}))
    assert core.settings.max_num_seqs == 2
    [failed] = events_of(core.log, Failed)
    assert failed.message.startswith("the settings stay as they are: max_num_batched_tokens must")


def test_a_note_is_for_those_who_watch():
    core = make_core()
    core.clock.sleep(2.0)
    act(core, Note(1.5, "rush hour"))
    assert events_of(core.log, Noted) == [Noted(2.0, "rush hour")]
