from __future__ import annotations

from threading import Thread

from engine.events import Token
from engine.log import CHUNK, EventLog


def make_log(num_events: int, capacity: int | None = None) -> EventLog:
    log = EventLog(capacity)
    for index in range(num_events):
        log.append(number(index))
    return log


def number(index: int) -> Token:
    return Token(float(index), "r0", index)


def ids(events: list[object]) -> list[int]:
    return [event.token_id for event in events if isinstance(event, Token)]


def test_an_empty_log_has_nothing_to_read():
    log = EventLog()
    assert (log.since(0), len(log), log.first) == (([], 0), 0, 0)


def test_a_reader_goes_on_from_where_it_stopped():
    log = make_log(3)
    events, position = log.since(0)
    assert (ids(events), position) == ([0, 1, 2], 3)
    log.append(number(3))
    events, position = log.since(position)
    assert (ids(events), position) == ([3], 4)
    assert log.since(position) == ([], 4)


def test_a_reader_may_begin_anywhere_even_across_chunks():
    log = make_log(2 * CHUNK + 5)
    for begin in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 4):
        events, position = log.since(begin)
        assert (ids(events), position) == (list(range(begin, 2 * CHUNK + 5)), 2 * CHUNK + 5)


def test_a_full_chunk_is_read_to_its_end():
    log = make_log(CHUNK)
    events, position = log.since(0)
    assert (len(events), position, len(log)) == (CHUNK, CHUNK, CHUNK)
    assert log.since(CHUNK) == ([], CHUNK)


def test_memory_is_bounded_and_the_capacity_is_always_kept():
    log = EventLog(capacity=CHUNK)
    for index in range(7 * CHUNK):
        log.append(number(index))
        kept = len(log) - log.first
        assert min(index + 1, CHUNK) <= kept <= 2 * CHUNK
    assert len(log) == 7 * CHUNK


def test_a_reader_that_fell_behind_learns_how_much_it_missed():
    log = make_log(4 * CHUNK, capacity=CHUNK)
    events, position = log.since(10)
    num_missed = (position - 10) - len(events)
    assert num_missed == log.first - 10 > 0
    assert ids(events) == list(range(log.first, 4 * CHUNK))


def test_without_a_capacity_nothing_is_forgotten():
    log = make_log(3 * CHUNK, capacity=None)
    assert (log.first, ids(log.since(0)[0])) == (0, list(range(3 * CHUNK)))


def test_a_reader_beside_the_writer_sees_every_event_once_and_in_order():
    num_events = 20 * CHUNK
    log = EventLog(capacity=None)
    writer = Thread(target=lambda: [log.append(number(i)) for i in range(num_events)])
    writer.start()
    seen: list[int] = []
    position = 0
    while len(seen) < num_events and (writer.is_alive() or position < len(log)):
        events, position = log.since(position)
        seen += ids(events)
    writer.join()
    assert seen == list(range(num_events))


def test_a_slow_reader_beside_the_writer_misses_only_what_was_forgotten():
    log = EventLog(capacity=CHUNK)
    writer = Thread(target=lambda: [log.append(number(i)) for i in range(20 * CHUNK)])
    writer.start()
    seen: list[int] = []
    position, num_missed = 0, 0
    while writer.is_alive() or position < len(log):
        events, behind = log.since(position)
        num_missed += (behind - position) - len(events)
        seen, position = seen + ids(events), behind
    writer.join()
    assert seen == sorted(set(seen))
    assert len(seen) + num_missed == 20 * CHUNK
