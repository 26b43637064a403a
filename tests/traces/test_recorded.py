"""Recorded requests as a preset plays them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.generate.arrivals import Constant
from engine.generate.choosing import Window
from engine.generate.drafting import ZeroOutput
from engine.generate.fallback import Fallback
from engine.generate.fitting import Fit, FitOutput, Over
from engine.generate.lengths import Fixed
from engine.generate.recorded import Recorded, Sessions

EDGE = Path(__file__).parent / "edge"


@pytest.fixture
def ten(tmp_path):
    """Ten requests, a second apart, with prompts of 10 to 100 tokens and outputs of 1 to 10."""
    lines = [f"{at},{10 * at + 10},{at + 1}" for at in range(10)]
    path = tmp_path / "ten.csv"
    path.write_text("\n".join(["arrived_at,num_prefill_tokens,num_decode_tokens", *lines]))
    return path


def read(path: Path, context: int = 0, **table):
    return Recorded(name="t", path=path.name, **table).read(1, [path.parent], context)


def played(reading) -> list[tuple[float, int | None, int | None]]:
    return [(d.arrival, d.num_prompt_tokens, d.num_output_tokens) for d in reading.drafts]


def test_rows_come_as_they_were_recorded(ten):
    reading = read(ten)
    assert played(reading)[:3] == [(0.0, 10, 1), (1.0, 20, 2), (2.0, 30, 3)]
    assert (reading.drafts[0].id, reading.drafts[0].label) == ("t-0", "t")
    assert reading.tally.lines() == ["10 rows read = 10 kept + 0 dropped"]


def test_first_the_window_then_every_second_then_the_limit(ten):
    reading = read(ten, window=Window(from_s=2, to_s=9), every=2, limit=3)
    assert played(reading) == [(0.0, 30, 3), (2.0, 50, 5), (4.0, 70, 7)]
    assert reading.tally.num_kept == 3
    assert dict(reading.tally.dropped) == {
        "outside the window": 3,
        "left out between those taken": 3,
        "beyond the limit": 1,
    }


def test_what_is_in_order_is_read_no_further_than_it_is_played(ten):
    reading = read(ten, ordered=True, limit=3)
    assert played(reading) == played(read(ten, limit=3))
    assert reading.tally.num_read == 3
    windowed = read(ten, ordered=True, window=Window(from_s=1, to_s=4))
    assert (len(windowed.drafts), windowed.tally.num_read) == (3, 5)


def test_what_should_be_in_order_and_is_not_is_refused():
    with pytest.raises(ConfigError, match="ordered: row 6 is earlier than one before it"):
        read(EDGE / "azure2023.csv", ordered=True)


def test_unsorted_rows_are_sorted_and_begin_at_nothing():
    reading = read(EDGE / "azure2024.csv")
    assert played(reading) == [(0.0, 2399, 6), (0.00993, 2162, 5), (1.0, 76, 15)]
    assert len(reading.tally.notes) == 1


@pytest.mark.parametrize(
    ("change", "last"), [({"time_scale": 0.5}, 4.5), ({"target_rate": 4}, 2.5)]
)
def test_times_are_scaled(ten, change, last):
    assert read(ten, **change).drafts[-1].arrival == last


def test_jitter_moves_every_request_a_little_and_is_repeatable(ten):
    once, again = read(ten, jitter_s=0.5), read(ten, jitter_s=0.5)
    shifts = [draft.arrival - at for at, draft in enumerate(once.drafts)]
    assert once == again
    assert all(0 <= shift < 0.5 for shift in shifts)
    assert len(set(shifts)) == 10


def test_other_arrivals_may_stand_in_for_the_recorded_ones(ten):
    assert [d.arrival for d in read(ten, limit=3, arrivals=Constant(rate=4.0)).drafts] == [
        0.0,
        0.25,
        0.5,
    ]


def test_lengths_are_scaled_then_bounded_then_cut_to_the_context(ten):
    reading = read(ten, 30, prompt=Fit(scale=0.5, min=8), output=FitOutput(scale=0.1, max=12))
    assert [d.num_prompt_tokens for d in reading.drafts] == [8, 10, 15, 20, 25, 29, 29, 29, 29, 29]
    assert {d.num_output_tokens for d in reading.drafts} == {1}
    assert dict(reading.tally.changed) == {
        "with the prompt raised to 8 tokens": 1,
        "with the prompt cut to fit the context of 30 tokens": 5,
    }


def test_what_is_too_long_is_clipped_dropped_or_an_error(ten):
    clipped = read(ten, output=FitOutput(max=8))
    assert dict(clipped.tally.changed) == {"with the output clipped to 8 tokens": 2}
    dropped = read(ten, output=FitOutput(max=8, over=Over.DROP))
    assert (len(dropped.drafts), dict(dropped.tally.dropped)) == (
        8,
        {"with the output above 8 tokens": 2},
    )
    with pytest.raises(ValueError, match="max is 8 tokens, and one output has 9"):
        read(ten, output=FitOutput(max=8, over=Over.ERROR))


@pytest.mark.parametrize(
    ("zero_output", "outputs", "leaving"),
    [
        (ZeroOutput.DROP, [18, 9], [None, None]),
        (ZeroOutput.ONE, [18, 1, 9], [None, None, None]),
        (ZeroOutput.FAILED, [18, 2, 9], [None, 1, None]),
    ],
)
def test_a_request_without_output_is_dropped_answered_or_left(zero_output, outputs, leaving):
    reading = read(EDGE / "burstgpt1.csv", zero_output=zero_output)
    assert [draft.num_output_tokens for draft in reading.drafts] == outputs
    assert [draft.cancel_after_tokens for draft in reading.drafts] == leaving


def test_independent_turns_without_stamps_come_by_their_delays():
    assert played(read(EDGE / "mooncake.jsonl")) == [
        (0.0, 700, 12),
        (0.0, 30, 8),
        (1.2505, None, 4),
        (2.0, 15, 4),
    ]


def test_ordered_turns_wait_for_the_answer_before():
    reading = read(EDGE / "bailian.jsonl", sessions=Sessions.ORDERED)
    assert [(d.id, d.follows, d.arrival) for d in reading.drafts] == [
        ("t-0", "", 0.0),
        ("t-1", "t-0", 1.386),
    ]
    turns = read(EDGE / "mooncake.jsonl", sessions=Sessions.ORDERED).drafts
    assert (turns[3].follows, turns[3].delay) == ("t-1", 2.0)


def test_texts_stand_in_for_lengths():
    [draft] = read(EDGE / "sharegpt.json", arrivals=Constant(rate=1.0)).drafts
    assert (draft.text, draft.answer) == ("Who are you?", "A model [1], {2}.")
    assert (draft.num_prompt_tokens, draft.num_output_tokens) == (None, None)


def test_an_output_that_nobody_tells_is_assumed_and_counted():
    reading = read(EDGE / "custom.jsonl", arrivals=Constant(rate=1.0), output=FitOutput(missing=20))
    assert [draft.num_output_tokens for draft in reading.drafts] == [30, 20]
    assert dict(reading.tally.changed) == {"with an output assumed to have 20 tokens": 1}


def test_a_trace_without_times_needs_arrivals():
    with pytest.raises(ValueError, match="arrivals are needed: a trace like custom has no times"):
        read(EDGE / "custom.jsonl")


def test_a_file_that_is_not_there_is_an_error_or_has_something_to_stand_in(tmp_path):
    missing = tmp_path / "gone.csv"
    with pytest.raises(ConfigError, match=r"path: names no file; looked for .*gone\.csv"):
        read(missing)
    fallback = Fallback(
        count=2, arrival=Constant(rate=1.0), prompt=Fixed(value=9), output=Fixed(value=4)
    )
    reading = read(missing, fallback=fallback)
    assert played(reading) == [(0.0, 9, 4), (1.0, 9, 4)]
    assert reading.notice.startswith("t: gone.csv is not there; requests drawn from the fallback")
    assert reading.tally is None


def test_a_file_with_another_checksum_is_refused(ten):
    with pytest.raises(ConfigError, match="sha256: is not that of"):
        read(ten, sha256="00")
