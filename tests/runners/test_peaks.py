from __future__ import annotations

import torch

from engine.runners.peaks import measure_peaks


def test_a_cpu_is_measured_and_only_once():
    peaks = measure_peaks(torch.device("cpu"), torch.float32, num_threads=1)

    bandwidth, flops = peaks

    assert 1e8 < bandwidth < 1e13
    assert 1e8 < flops < 1e14
    assert measure_peaks(torch.device("cpu"), torch.float32, num_threads=1) is peaks
