"""Every claim of every shipped preset, on the virtual clock: linear costs, and a GPU's."""

from functools import cache

import pytest

from engine.runners.parts import ModelSpec
from tuiapp.presets import find_preset, list_presets
from tuiapp.presets.files import shipped_folder
from tuiapp.running.headless import run_preset
from tuiapp.running.outcome import Outcome
from tuiapp.running.verdicts import Ruling, judge

NAMES = [preset.name for preset in list_presets((shipped_folder(),)).presets]
CANCELLING = ("cancel", "cancel-storm")
LINEAR, USUAL = ModelSpec(device="sim:linear"), ModelSpec(device="sim")


@cache
def outcomes(name: str, spec: ModelSpec = LINEAR) -> dict[str, Outcome]:
    preset = find_preset(name)
    variants = [variant.name for variant in preset.variants]
    return {each: run_preset(preset, each, preset.settings(each), spec) for each in variants}


@pytest.mark.parametrize("spec", [LINEAR, USUAL], ids=["linear", "usual"])
@pytest.mark.parametrize("name", NAMES)
def test_the_claims_of_a_preset_hold(name, spec):
    verdicts = judge(find_preset(name).claims, tuple(outcomes(name, spec).values()))
    assert [v.claim.text for v in verdicts if v.ruling is not Ruling.HOLDS] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_figures_beside_the_claims_are_those_of_the_simulation(name):
    preset, found = find_preset(name), outcomes(name)
    for claim in preset.claims:
        sides = [(claim.left, claim.label)]
        if claim.right:
            sides.append((claim.right, claim.right_label or claim.label))
        figures = [found[side].report.value(claim.metric, label) for side, label in sides]
        assert figures == pytest.approx(claim.simulated, rel=0.001), claim.text


@pytest.mark.parametrize("name", NAMES)
def test_every_request_of_a_preset_is_served_in_full_or_was_cancelled(name):
    preset = find_preset(name)
    for outcome in outcomes(name).values():
        service = outcome.report.service
        assert service.num_completed + service.num_aborted == len(preset.drafts)
        assert outcome.complaints == ()
        if name not in CANCELLING:
            expected = sum(draft.num_output_tokens or 0 for draft in preset.drafts)
            assert (service.num_aborted, service.num_output_tokens) == (0, expected)


@pytest.mark.parametrize(
    ("name", "variant", "aborted"),
    [("cancel", "dynamic", 4), ("cancel", "continuous", 4), ("cancel-storm", "continuous", 99)],
)
def test_so_many_clients_go_away(name, variant, aborted):
    assert outcomes(name)[variant].report.service.num_aborted == aborted


@pytest.mark.parametrize(
    ("name", "variant", "metric", "label", "expected"),
    [
        ("straggler", "static", "e2e_p50_ms", "short", 6130),
        ("straggler", "dynamic", "e2e_p50_ms", "short", 6130),
        ("straggler", "continuous", "e2e_p50_ms", "short", 66.4),
        ("fill-wait", "static", "ttft_p99_ms", "", 12_889),
        ("fill-wait", "dynamic", "ttft_p99_ms", "", 377),
        ("fill-wait", "continuous", "ttft_p99_ms", "", 24.6),
        ("prefill-spike", "whole", "itl_max_ms", "stream", 94.3),
        ("prefill-spike", "chunk512", "itl_max_ms", "stream", 22.5),
        ("prefill-spike", "whole", "ttft_p50_ms", "long-a", 102),
        ("prefill-spike", "chunk512", "ttft_p50_ms", "long-a", 201),
        ("paged-kv", "reserve", "peak_running", "", 8),
        ("paged-kv", "reserve", "out_tps", "", 603),
    ],
)
def test_the_figures_are_those_that_the_linear_model_gives(name, variant, metric, label, expected):
    value = outcomes(name)[variant].report.value(metric, label)
    assert value == pytest.approx(expected, rel=0.005)


def test_a_static_batch_takes_as_long_as_its_straggler_by_hand():
    # 500 passes of 12 ms and 8 sequences, one prefill of 8 x 32 tokens, and the context of the
    # straggler (32 to 531) and of seven dead rows (36) that go on attending to theirs.
    context = sum(range(32, 532)) + 7 * 36 * 500
    by_hand = 500 * (12 + 8 * 0.03) + 8 * 32 * 0.02 + context * 2e-5
    short = outcomes("straggler")["static"].report.value("e2e_p50_ms", "short")
    assert short == pytest.approx(by_hand, rel=1e-4)


def test_variants_see_the_same_arrivals():
    arrivals = {
        name: outcome.report.service.num_prompt_tokens
        for name, outcome in outcomes("heavy-load").items()
    }
    assert len(set(arrivals.values())) == 1
