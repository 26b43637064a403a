"""Lesson files: read strictly, and each with a preset that has what it asks for."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from engine.config import ConfigError
from tuiapp.lessons import find_lesson_preset, read_course, show_answer, show_number

LESSONS = {lesson.id: lesson for lesson in read_course().lessons}
LESSON = LESSONS["why-static-wastes"]


def test_there_are_eight_in_this_order():
    assert list(LESSONS) == [
        "why-static-wastes",
        "what-the-timeout-trades",
        "why-continuous",
        "the-prefill-spike",
        "the-size-of-a-chunk",
        "paging-against-reserving",
        "preemption",
        "light-traffic",
    ]


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.id)
def test_each_plays_a_preset_that_has_its_runs_and_labels(lesson):
    preset = find_lesson_preset(lesson)
    assert len(lesson.runs) >= 2
    assert {variant.name for variant in preset.variants} >= set(lesson.runs)
    assert preset.drafts[-1].arrival <= 12, "nobody waits long for a lesson"


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.id)
def test_no_lesson_says_in_advance_what_will_be_measured(lesson):
    limits = [choice.up_to for choice in lesson.choices]
    assert limits[2] is None
    assert [lesson.right_choice(value) for value in (0.0, limits[1], inf)] == [0, 1, 2]
    assert lesson.right_choice(limits[0]) == 0
    assert not any(char.isdigit() for char in lesson.paragraph), "figures come from the run"


def test_a_label_that_the_preset_does_not_have_is_an_error():
    wrong = replace(LESSON, measure=replace(LESSON.measure, metric="ttft_p50_ms", label="shrot"))
    with pytest.raises(ConfigError, match="did you mean 'short'"):
        find_lesson_preset(wrong)


def test_a_run_that_the_preset_does_not_have_is_an_error():
    with pytest.raises(ConfigError, match="no variant called 'contineous'"):
        find_lesson_preset(replace(LESSON, runs=("static", "contineous")))


TEXT = """
schema = 1
id = "x"
title = "t"
preset = "straggler"
runs = ["static", "continuous"]
question = "q"
paragraph = "p"
source = "s"
choice = [{ text = "a", up_to = 1.0 }, { text = "b", up_to = 2.0 }, { text = "c" }]
measure = { metric = "out_tps", run = "static" }
figure = [{ text = "f", metric = "ttft_p50_ms", class = "short" }]
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("schema = 1", "schema = 2", "schema must be 1, got 2|schema: must be 1, got 2"),
        ("title", "titel", "did you mean 'title'"),
        ('id = "x"', 'id = "y"', "must be 'x', as the file is called"),
        (', { text = "c" }', "", "choice: must be there 3 times, not 2|there 3 times"),
        ("up_to = 2.0", "up_to = 0.5", "limits that rise"),
        ('{ text = "c" }', '{ text = "c", up_to = 9.0 }', "none for the last"),
        ("out_tps", "out_tsp", "unknown: 'out_tsp'"),
        ('metric = "ttft_p50_ms"', 'metric = "occupancy"', "unknown: 'occupancy'"),
        ('run = "static"', 'run = "dynamic"', "'dynamic', which is none of the runs"),
        ("schema", "=", "this is no TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(tmp_path, old, new, problem):
    path = tmp_path / "1-x.toml"
    path.write_text(TEXT)
    assert len(read_course(tmp_path).lessons) == 1
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(ConfigError, match=problem):
        read_course(tmp_path)


@pytest.mark.parametrize(
    ("metric", "value", "shown"),
    [
        ("ttft_p50_ms", 27.44, "27.4 ms"),
        ("ttft_p50_ms", 5987.6, "5,988 ms"),
        ("e2e_max_ms", 12_345.0, "12.3 s"),
        ("held_share", 0.856, "86%"),
        ("occupancy", 0.4, "40%"),
        ("out_tps", 569.4, "569 tok/s"),
        ("num_passes", 10_292, "10,292"),
        ("mean_batch", 6.66, "6.7"),
        ("itl_max_ms", None, "—"),
    ],
)
def test_a_number_is_shown_in_the_unit_of_its_metric(metric, value, shown):
    assert show_number(metric, value) == shown


def test_an_answer_is_a_value_or_a_ratio():
    ratio = LESSONS["why-continuous"].measure
    assert show_answer(LESSON.measure, 0.86) == "86%"
    assert show_answer(ratio, 2.184) == "2.18 times"
    assert show_answer(ratio, None) == "—"
