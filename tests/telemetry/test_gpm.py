"""GPM compares two samples, and gives them back."""

from __future__ import annotations

from engine.telemetry.gpm import Gpm
from tests.telemetry.fake_nvml import FakeNvml


def make_gpm(*unsupported):
    nvml = FakeNvml(*unsupported)
    nvml.nvmlInit()
    return Gpm("handle", nvml), nvml


def test_the_first_reading_has_nothing_to_compare_with():
    gpm, nvml = make_gpm()
    assert gpm.read() == {}
    assert gpm.read() == {2: 0.8, 3: 0.4, 5: 0.125, 10: 0.625}
    nvml.gpm[2] = 5.0
    assert gpm.read()[2] == 0.05


def test_one_sample_a_reading_is_taken_and_two_are_held_however_long_it_runs():
    gpm, nvml = make_gpm()
    for _ in range(100):
        gpm.read()
    assert (nvml.num_taken, len(nvml.held)) == (100, 2)
    gpm.close()
    assert nvml.held == []
    assert gpm.read() == {}


def test_a_metric_that_is_refused_is_left_out():
    gpm, nvml = make_gpm()
    nvml.refused_metrics = {5}
    gpm.read()
    assert gpm.read() == {2: 0.8, 3: 0.4, 10: 0.625}


def test_a_device_without_it_is_never_asked_for_a_sample():
    for reason in ("gpm", "gpm function"):
        gpm, nvml = make_gpm(reason)
        assert gpm.read() == {}
        assert (nvml.num_taken, nvml.held) == (0, [])


def test_once_samples_are_refused_no_more_are_asked_for_and_none_is_held():
    gpm, nvml = make_gpm("gpm samples")
    assert gpm.read() == gpm.read() == {}
    assert nvml.held == []
