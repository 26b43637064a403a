from dataclasses import replace
from pathlib import Path

import pytest

from engine.runners.parts import ModelSpec
from tuiapp.presets import Claim
from tuiapp.presets.parse import parse
from tuiapp.presets.schema import Op
from tuiapp.running.headless import run_preset
from tuiapp.running.verdicts import Ruling, judge

PRESET = parse(
    """\
schema = 1
[preset]
id = "small"
title = "Small"
summary = "Two lengths."
[[compare]]
name = "fast"
[[compare]]
name = "slow"
max_num_seqs = 1
[[request]]
label = "short"
prompt_tokens = 16
output_tokens = 2
[[request]]
label = "long"
prompt_tokens = 16
output_tokens = 20
""",
    Path("small.toml"),
)


@pytest.fixture(scope="module")
def outcomes():
    spec = ModelSpec(device="sim:linear")
    return [run_preset(PRESET, name, PRESET.settings(name), spec) for name in ("fast", "slow")]


def claim(**changes):
    fields = {"text": "", "metric": "e2e_p50_ms", "left": "fast", "op": Op.AT_MOST}
    return Claim(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "ruling"),
    [
        ({"right": "slow"}, Ruling.HOLDS),
        ({"right": "slow", "op": Op.AT_LEAST}, Ruling.FAILS),
        ({"right": "slow", "factor": 0.01}, Ruling.FAILS),
        ({"value": 10_000.0}, Ruling.HOLDS),
        ({"right": "fast", "label": "short", "right_label": "long"}, Ruling.HOLDS),
        ({"right": "fast", "label": "long", "right_label": "short"}, Ruling.FAILS),
        ({"metric": "peak_running", "op": Op.AT_LEAST, "value": 2}, Ruling.HOLDS),
        ({"right": "other"}, Ruling.OPEN),
        ({"metric": "attainment", "value": 1.0}, Ruling.OPEN),
    ],
)
def test_a_claim_is_held_against_the_runs(outcomes, changes, ruling):
    (verdict,) = judge([claim(**changes)], outcomes)
    assert verdict.ruling is ruling


def test_a_verdict_shows_what_was_compared(outcomes):
    (verdict,) = judge([claim(right="slow", factor=2.0)], outcomes)
    fast, slow = (outcome.report.value("e2e_p50_ms") for outcome in outcomes)
    assert (verdict.measured, verdict.limit) == (fast, 2 * slow)


def test_a_run_that_was_broken_off_proves_nothing(outcomes):
    broken = [replace(outcome, is_interrupted=True) for outcome in outcomes]
    (verdict,) = judge([claim(right="slow")], broken)
    assert verdict.ruling is Ruling.OPEN
