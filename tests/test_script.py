from engine.actions import Abort, Note
from engine.events import Arrived, Finished
from engine.generate.script import Ask, Script
from engine.request import Answer, FinishReason
from engine.run import run
from engine.settings import BatcherName
from tests.builders import ask, events_of, make_core, outputs_of


def items(script: Script, until: float) -> list[tuple[str, float]]:
    """What happens up to a moment: requests by id, actions by kind."""
    taken = script.take(until)
    return [
        (item.id, item.arrival) if hasattr(item, "arrival") else (type(item).__name__, item.time)
        for item in taken
    ]


def conversation(**options) -> Script:
    """Three turns, a second of thought before each answer's successor."""
    return Script(
        [
            Ask(ask("t0")),
            Ask(ask("t1"), follows="t0", delay=1.0),
            Ask(ask("t2"), follows="t1", delay=1.0),
        ],
        **options,
    )


def test_requests_and_actions_come_in_order_of_time():
    asks = [Ask(ask("b", arrival=2.0)), Ask(ask("a"))]
    script = Script(asks, [Note(1.0, "hello"), Note(3.0, "end")])
    assert (script.next_arrival(), script.next_time()) == (0.0, 0.0)
    assert items(script, 2.0) == [("a", 0.0), ("Note", 1.0), ("b", 2.0)]
    assert (script.next_arrival(), script.next_time()) == (None, 3.0)


def test_one_that_follows_comes_after_the_answer_and_a_thought():
    script = conversation()
    assert items(script, 99.0) == [("t0", 0.0)]
    assert (script.next_time(), script.is_over) == (None, False)
    script.answered(Answer("t0"), 5.0)
    assert items(script, 99.0) == [("t1", 6.0)]
    script.answered(Answer("t1"), 9.5)
    assert items(script, 99.0) == [("t2", 10.5)]
    assert script.is_over


def test_one_that_follows_never_comes_before_its_own_time():
    script = Script([Ask(ask("a")), Ask(ask("b", arrival=8.0), follows="a", delay=1.0)])
    script.take(0.0)
    script.answered(Answer("a"), 2.0)
    assert script.next_arrival() == 8.0


def test_nobody_asks_after_the_end_nor_whoever_waited_for_them():
    script = conversation(until=5.5)
    script.take(0.0)
    script.answered(Answer("t0"), 5.0)
    assert (script.next_time(), script.is_over) == (None, True)


def test_a_client_goes_away_so_long_after_it_asked():
    script = Script([Ask(ask("a", arrival=1.0), cancel_after_s=2.0)])
    assert items(script, 1.0) == [("a", 1.0)]
    assert script.take(3.0) == [Abort(3.0, "a")]


def test_nobody_wakes_for_a_client_who_has_its_answer():
    script = Script([Ask(ask("a"), cancel_after_s=60.0)])
    script.take(0.0)
    script.answered(Answer("a"), 2.0)
    assert script.next_time() is None


def test_a_closed_loop_keeps_the_engine_going_to_its_end():
    core = make_core()
    run(core, conversation())
    assert [(e.request.id, e.request.arrival) for e in events_of(core.log, Arrived)] == [
        ("t0", 0.0),
        ("t1", 5.0),
        ("t2", 10.0),
    ]


def test_a_closed_loop_goes_on_after_one_that_could_never_be_served():
    core = make_core()
    run(core, Script([Ask(ask("never", 9000)), Ask(ask("b"), follows="never")]))
    assert {e.request_id: e.reason for e in events_of(core.log, Finished)} == {
        "never": FinishReason.REJECTED,
        "b": FinishReason.LENGTH,
    }


def test_people_who_all_wait_are_not_kept_waiting_for_a_full_batch():
    core = make_core(batcher=BatcherName.STATIC, max_batch_size=8)
    run(core, conversation())
    assert len(events_of(core.log, Finished)) == 3


def test_a_client_that_goes_away_in_a_run_is_aborted_at_that_time():
    core = make_core()
    run(core, Script([Ask(ask("a", max_tokens=9), cancel_after_s=2.5)]))
    [finished] = events_of(core.log, Finished)
    assert (finished.reason, finished.time) == (FinishReason.ABORT, 3.0)


def test_a_turn_with_a_history_goes_on_from_what_was_said():
    script = Script(
        [
            Ask(ask("t0", 3)),
            Ask(ask("t1", 2), follows="t0", has_history=True),
            Ask(ask("t2", 1), follows="t1", has_history=True),
        ]
    )
    script.take(0.0)
    script.answered(Answer("t0", (7, 8)), 1.0)
    [second] = script.take(1.0)
    assert second.prompt_token_ids == (1, 1, 1, 7, 8, 1, 1)
    script.answered(Answer("t1", (9,)), 2.0)
    [third] = script.take(2.0)
    assert third.prompt_token_ids == (1, 1, 1, 7, 8, 1, 1, 9, 1)
    assert script.is_over


def test_a_turn_without_one_is_what_it_is():
    script = conversation()
    script.take(0.0)
    script.answered(Answer("t0", (7, 8)), 5.0)
    [second] = script.take(6.0)
    assert second.prompt_token_ids == (1, 1, 1, 1)


def test_an_engine_answers_a_chat_turn_by_turn():
    core = make_core()
    run(core, Script([Ask(ask("a")), Ask(ask("b"), follows="a", has_history=True)]))
    first, second = (each.request for each in events_of(core.log, Arrived))
    said = outputs_of(core.log)["a"]
    assert second.prompt_token_ids == (*first.prompt_token_ids, *said, 1, 1, 1, 1)
