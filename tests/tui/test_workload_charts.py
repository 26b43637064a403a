"""What a workload is like, in three charts."""

from __future__ import annotations

from engine.generate.draft import Draft
from tuiapp.widgets.histogram import columns
from tuiapp.widgets.workload_charts import draw_workload


def draft(number, arrival=0.0, prompt=16, output=8, **more) -> Draft:
    return Draft(f"r{number}", "chat", arrival, prompt, output, **more)


def drawn(drafts, width=60):
    return draw_workload(drafts, width).plain.splitlines()


def test_columns_fill_from_below_and_hide_nothing():
    assert columns([0, 1, 8, 16], 2) == ["   █", " ▁██"]
    assert columns([0, 0], 2) == ["  ", "  "]
    assert columns([1, 1000], 1) == ["▁█"]


def test_equal_lengths_and_few_bursts_are_told_not_drawn():
    assert drawn([draft(0), draft(1), draft(2, arrival=0.5)]) == [
        "prompt tokens  16 each",
        "output tokens  8 each",
        "arrivals       2 at 0 s, 1 at 0.5 s",
    ]


def test_lengths_that_spread_far_lie_on_a_logarithmic_axis():
    lines = drawn([draft(n, prompt=length) for n, length in enumerate((1, 10, 100, 1000))], 18)
    assert lines[:4] == [
        "prompt tokens  1 to 1,000,",
        "               half up to",
        "               55, log axis",
        "  █    █    █    █",
    ]


def test_arrivals_are_a_curve_over_time_with_mean_and_peak():
    lines = drawn([draft(n, arrival=time) for n, time in enumerate((0, 1, 2, 3, 3.5, 4))], 10)
    assert lines[2:5] == [
        "arrivals       0 to 4 s,",
        "               1.5/s, at",
        "               most 4/s",
    ]
    assert lines[5:] == ["         █", "  █ █ █ ██"]


def test_what_waits_for_an_answer_and_what_a_text_decides_are_counted():
    lines = drawn([draft(0), draft(1, prompt=None, text="hello", follows="r0")])
    assert lines[0] == "prompt tokens  16 each, 1 as their texts give"
    assert lines[2] == "arrivals       1 at 0 s, 1 each after an answer"
    assert drawn([draft(0, prompt=None)])[0] == "prompt tokens  as the texts give"


def test_a_shared_prefix_counts_as_prompt():
    assert drawn([draft(0, num_prefix_tokens=100)])[0] == "prompt tokens  116 each"
