"""Where a pass spent its time."""

from __future__ import annotations

import time

import torch

from engine.runners.pass_timer import PassTimer


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def test_each_part_is_told_from_the_others_and_a_cpu_computes_while_it_is_called():
    timer = PassTimer(torch.device("cpu"))
    spin(0.002)
    timer.prepared()
    spin(0.006)
    timer.called()
    spin(0.001)
    timer.sampled()

    timing = timer.read()

    assert timing.prepare >= 0.002
    assert timing.sample >= 0.001
    assert timing.device >= 0.007
    assert timing.device >= timing.sample


def test_marking_a_pass_costs_no_more_than_some_microseconds():
    device = torch.device("cpu")

    def seconds() -> float:
        began = time.perf_counter()
        timer = PassTimer(device)
        timer.prepared()
        timer.called()
        timer.sampled()
        timer.read()
        return time.perf_counter() - began

    assert min(seconds() for _ in range(200)) < 50e-6
