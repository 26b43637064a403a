import json
from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.runners.parts import ModelSpec
from tests.told import measured
from tuiapp.presets import find_preset
from tuiapp.reports.as_json import (
    claim_to_json,
    dump,
    error_to_json,
    outcome_to_json,
    preset_to_json,
)
from tuiapp.running.headless import run_preset


def test_an_outcome_is_plain_json_with_enums_by_value():
    preset = find_preset("straggler")
    settings, spec = preset.settings("dynamic"), ModelSpec(device="sim:linear")
    found = json.loads(dump(outcome_to_json(run_preset(preset, "dynamic", settings, spec))))
    assert found["settings"]["batcher"] == "dynamic"
    assert found["settings"]["deliver"] == "batch"
    assert found["overall"]["tpot_p50_ms"] is None
    assert list(found["classes"]) == ["short", "straggler", "late-short"]
    assert found["classes"]["straggler"]["num_output_tokens"] == 500


def test_numbers_of_several_runs_are_medians_with_what_they_lie_between():
    told = outcome_to_json(measured("a", {"out_tps": 90.0}, {"out_tps": 94.0}, {"out_tps": 91.0}))
    assert (told["num_runs"], told["overall"]["out_tps"]) == (3, 91.0)
    assert told["spread"]["out_tps"] == [90.0, 94.0]
    assert outcome_to_json(measured("a", {}))["spread"] == {}


def test_a_number_that_json_does_not_have_is_an_error():
    with pytest.raises(ValueError, match="JSON compliant"):
        dump({"x": float("nan")})
    with pytest.raises(TypeError, match="no JSON for"):
        dump({"x": object()})


def test_a_claim_has_the_keys_of_its_file():
    assert claim_to_json(find_preset("straggler").claims[0]) == {
        "text": "Static: a short answer comes when the longest one of its batch is done.",
        "metric": "e2e_p50_ms",
        "left": "static",
        "op": find_preset("straggler").claims[0].op,
        "right": "static",
        "factor": 0.99,
        "source": "Priya C, Static vs. Dynamic vs. Continuous Batching: Static, point 2",
        "class": "short",
        "right_class": "straggler",
        "simulated": (6130.0, 6130.0),
    }


def test_a_preset_and_an_error_say_where_they_are():
    assert Path(preset_to_json(find_preset("straggler"))["path"]).name == "straggler.toml"
    error = ConfigError("is wrong", ("class", 0, "count"), "x.toml:3")
    assert error_to_json(error) == {
        "place": "x.toml:3",
        "path": ["class", 0, "count"],
        "problem": "is wrong",
    }
