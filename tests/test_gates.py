from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.metrics import Slo
from engine.runners.parts import ModelSpec
from tuiapp.presets.parse import parse
from tuiapp.running.gates import Condition, examine, read_condition, read_slo
from tuiapp.running.headless import run_preset

PRESET = parse(
    """\
schema = 1
[preset]
id = "small"
title = "Small"
summary = "Two lengths."
[[compare]]
name = "all"
[[request]]
label = "short"
prompt_tokens = 16
output_tokens = 1
[[request]]
label = "long one"
prompt_tokens = 16
output_tokens = 20
""",
    Path("small.toml"),
)
LABELS = PRESET.labels


@pytest.fixture(scope="module")
def outcome():
    return run_preset(PRESET, "all", PRESET.settings("all"), ModelSpec(device="sim:linear"))


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("ttft_p95_ms > 500", Condition("ttft_p95_ms", ">", 500.0)),
        ("occupancy<0.5", Condition("occupancy", "<", 0.5)),
        ("  e2e_p50_ms[long one]>=1e3 ", Condition("e2e_p50_ms", ">=", 1000.0, "long one")),
        ("num_failed != 0", Condition("num_failed", "!=", 0.0)),
    ],
)
def test_a_condition_is_read(text, condition):
    assert read_condition(text, LABELS) == condition


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("fast", "'fast' is no condition; write it as 'ttft_p95_ms > 500'"),
        ("ttft_p95_ms > soon", "'soon' is no finite number"),
        ("ttft_p95_ms > nan", "'nan' is no finite number"),
        ("ttft_p95_ms > inf", "'inf' is no finite number"),
        ("ttft_p95 > 5", "'ttft_p95' is unknown; did you mean 'ttft_p95_ms'?"),
        ("ttft_p95_ms[shrt] > 5", "'shrt' is unknown; did you mean 'short'?"),
        ("occupancy[short] > 5", "'occupancy' is unknown"),
    ],
)
def test_what_is_no_condition_is_refused_with_what_would_be(text, problem):
    with pytest.raises(ConfigError) as caught:
        read_condition(text, LABELS)
    assert str(caught.value).startswith(f"--fail-if: {problem}")


def test_a_run_that_comes_to_a_condition_is_found_with_its_number(outcome):
    conditions = [
        Condition("e2e_p50_ms", ">", 100.0),
        Condition("e2e_p50_ms", ">", 1000.0),
        Condition("num_output_tokens", "==", 1.0, "short"),
    ]
    slow, single = examine(conditions, [outcome])
    assert str(slow) == f"all: e2e_p50_ms = {slow.measured:.6g} (e2e_p50_ms > 100)"
    assert str(single) == "all: num_output_tokens = 1 (num_output_tokens[short] == 1)"


def test_a_number_that_is_not_there_fails_the_run_too(outcome):
    (finding,) = examine([Condition("tpot_p99_ms", ">", 1e9, "short")], [outcome])
    assert finding.measured is None
    assert str(finding) == "all: tpot_p99_ms is undefined (tpot_p99_ms[short] > 1e+09)"


@pytest.mark.parametrize(
    ("text", "slo", "attainment"),
    [
        ("ttft_ms=500", Slo(ttft_ms=500.0), 1.0),
        ("ttft_ms = 500, tpot_ms=50 ,attainment=0.9", Slo(ttft_ms=500.0, tpot_ms=50.0), 0.9),
        ("preset", Slo(e2e_ms=7.0), 1.0),
        ("attainment=0.5", Slo(e2e_ms=7.0), 0.5),
    ],
)
def test_objectives_are_read_with_the_attainment_to_reach(text, slo, attainment):
    assert read_slo(text, Slo(e2e_ms=7.0)) == (slo, Condition("attainment", "<", attainment))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ttft=5", "--slo: ttft: unknown key; did you mean 'ttft_ms'?"),
        ("ttft_ms", "--slo: 'ttft_ms' is no objective; write it as 'ttft_ms=500'"),
        ("ttft_ms=soon", "--slo: 'ttft_ms=soon' is no objective"),
        ("ttft_ms=0", "--slo: ttft_ms: must be above 0"),
        ("ttft_ms=5,attainment=2", "--slo: attainment must be above 0 and at most 1, got 2"),
        ("preset", "--slo: no objective: the preset has none; name one"),
    ],
)
def test_what_is_no_objective_is_refused(text, problem):
    with pytest.raises(ConfigError) as caught:
        read_slo(text, Slo())
    assert str(caught.value).startswith(problem)
