from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from engine.runners.parts import ModelSpec
from tests.told import PRESET, measured
from tuiapp.presets.parse import parse
from tuiapp.reports.as_table import format_number, print_report
from tuiapp.running.headless import run_preset
from tuiapp.running.study import study_preset
from tuiapp.running.verdicts import judge

TEXT = """\
schema = 1
[preset]
id = "small"
title = "Small"
summary = "One request."
needs = ["memory_bound"]
[[compare]]
name = "only"
[[request]]
label = "a"
prompt_tokens = 16
output_tokens = 4
[[claim]]
text = "It takes no time."
metric = "e2e_p50_ms"
left = "only"
op = "<="
value = 1
"""


def report(text=TEXT, *, with_ratios=False):
    preset = parse(text, Path("small.toml"))
    spec = ModelSpec(device="sim:linear")
    outcomes = [run_preset(preset, v.name, preset.settings(v.name), spec) for v in preset.variants]
    console = Console(width=100)
    with console.capture() as capture:
        verdicts = judge(preset.claims, outcomes)
        print_report(console, study_preset(preset, outcomes, verdicts), with_ratios=with_ratios)
    return capture.get()


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "ms", "–"),
        (0, "count", "0"),
        (12345, "count", "12,345"),
        (0.256, "share", "26%"),
        (12.345, "ms", "12.3"),
        (0.01234, "rate", "0.0123"),
        (6130.4, "ms", "6,130"),
    ],
)
def test_numbers_are_as_exact_as_people_need(value, kind, text):
    assert format_number(value, kind) == text


def test_of_several_runs_the_medians_are_shown_with_by_how_much_they_differ():
    outcome = measured("a", {"out_tps": 100.0}, {"out_tps": 106.0}, {"out_tps": 104.0})
    console = Console(width=100)
    with console.capture() as capture:
        print_report(console, study_preset(PRESET, [outcome], ()))
    lines = capture.get().splitlines()
    assert lines[2] == "medians of 3 runs each, made in turn; ~ is by how much they differ"
    (line,) = [line for line in lines if line.startswith("output tokens/s")]
    assert line.split() == ["output", "tokens/s", "104", "~6%"]
    (steady,) = [line for line in lines if line.startswith("requests/s")]
    assert "~" not in steady


def test_a_simulated_run_says_so_in_headline_column_and_claims():
    assert report().count("simulated") == 4  # the device of the linear model is called so, too


def test_what_did_not_happen_has_no_line():
    text = report()
    assert "preemptions" not in text
    assert "SLO attainment" not in text
    assert "requests completed" in text


def test_a_claim_that_fails_shows_its_numbers_and_where_it_is_expected_to_hold():
    lines = report().splitlines()
    assert "✗ It takes no time." in lines
    assert "  fails: e2e_p50_ms only = 48.44 <= 1" in [line.rstrip() for line in lines]
    assert "These are said of devices that are memory bound." in lines


def test_labels_have_lines_of_their_own_only_if_there_are_several():
    two = TEXT.replace(
        "[[claim]]", "[[request]]\nlabel = 'b'\nprompt_tokens = 9\noutput_tokens = 4\n[[claim]]"
    )
    assert report().count("TTFT p50, ms") == 1
    assert report(two).count("TTFT p50, ms") == 3


def test_what_a_real_engine_computed_by_is_told_below_what_it_ran():
    outcome = measured("a", {"out_tps": 90.0})
    info = replace(outcome.info, attention="native paged", num_threads=2)
    console = Console(width=100)
    with console.capture() as capture:
        print_report(console, study_preset(PRESET, [replace(outcome, info=info)], ()))
    assert capture.get().splitlines()[2] == "attention by native paged, 2 threads"
