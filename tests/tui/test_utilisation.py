"""What was made of the device, from a log written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.events import (
    Configured,
    CpuGauges,
    EngineInfo,
    Gauges,
    GpuGauges,
    Ready,
    RowRecord,
    Split,
    Step,
    Work,
)
from engine.log import EventLog
from engine.settings import EngineSettings
from tuiapp.view.utilisation import NUM_BUCKETS, Utilisation

INFO = EngineInfo(
    "m", "NVIDIA H200", "bfloat16", "a", 1_000_000_000, 4096, 256, 16, kv_bytes_per_token=1000
)


def row(slot, work=Work.DECODE, num_tokens=1, num_computed=99):
    return RowRecord(slot, f"r{slot}", work, num_tokens, num_computed, num_computed + 1)


def sampled(slot):
    return RowRecord(slot, f"r{slot}", Work.DECODE, 1, 99, 100, sampled=True)


def step(end, duration, rows, num_slots=None, device=0.0):
    num_tokens = sum(each.num_tokens for each in rows)
    return Step(
        index=0,
        time=end,
        duration=duration,
        rows=tuple(rows),
        num_tokens=num_tokens,
        num_slots=num_slots or num_tokens,
        is_rectangular=num_slots is not None,
        preempted=(),
        skipped=(),
        blocks=(),
        num_waiting=0,
        num_running=len(rows),
        num_free_blocks=0,
        split=Split(device=device),
    )


def read(*events, now, info=INFO):
    log = EventLog()
    log.append(Ready(0.0, info))
    log.append(Configured(0.0, EngineSettings(max_num_seqs=4)))
    for event in events:
        log.append(event)
    use = Utilisation(log)
    return use.poll(now)


def test_shares_are_of_the_last_two_seconds():
    reading = read(
        step(0.25, 0.25, [row(0), row(1, Work.HELD, 0)], num_slots=2),
        step(1.5, 0.75, [row(0)]),
        now=2.0,
    )
    assert reading.engine_busy.now == pytest.approx(1.0 / 2.0)
    assert reading.engine_busy.trend[-4:] == pytest.approx((0.5, 0.5, 1.0, 0.0))
    assert reading.slots_busy.now == pytest.approx(1 / 4)
    assert reading.useful.now == pytest.approx(2 / 3)
    assert reading.useful.trend[-1] is None, "nothing ran, so no share is defined"
    assert reading.useful.trend[0] is None, "before the log began"
    assert len(reading.useful.trend) == NUM_BUCKETS


def test_mbu_is_the_bytes_that_passes_had_to_read_of_what_memory_could_deliver():
    reading = read(step(0.5, 0.001, [row(0), row(1)]), now=2.0)
    # 2 GB of weights and 200 tokens of 1000 bytes in a millisecond, of 4.8 TB/s
    assert reading.mbu.now == pytest.approx((2e9 + 200 * 1000) / 0.001 / 4800e9)


def test_mfu_is_two_operations_a_parameter_and_token():
    reading = read(step(0.5, 0.001, [row(0), row(1)]), now=2.0)
    assert reading.mfu.now == pytest.approx(2 * 1e9 * 2 / 0.001 / 989.5e12)


def test_without_peaks_nothing_is_claimed():
    info = EngineInfo("m", "cpu", "float32", "a", 1_000_000, 4096, 256, 16)
    reading = read(step(0.5, 0.25, [row(0)]), now=2.0, info=info)
    assert reading.peaks is None
    assert reading.mbu.now is None
    assert reading.mfu.now is None
    assert reading.engine_busy.now == pytest.approx(0.125)


def test_a_long_pass_is_spread_over_the_half_seconds_in_which_it_ran():
    reading = read(step(1.75, 1.5, [row(0, Work.PREFILL, 300, 0)]), now=2.0)
    assert reading.engine_busy.trend[-4:] == pytest.approx((0.5, 1.0, 1.0, 0.5))


def test_what_the_device_says_is_shown_as_it_says_it():
    gauges = [Gauges(at, "GPU", share, 8 << 30, 16 << 30, 300.0) for at, share in GAUGED]
    reading = read(*gauges, now=2.0)
    assert reading.device_busy.trend[-4:] == (0.25, 0.75, None, 1.0)
    assert reading.device_busy.now == 1.0
    assert reading.memory.now == 0.5
    assert reading.power.now == 300.0
    assert reading.gauges is gauges[-1]


def test_computing_is_what_the_device_was_timed_at_and_busy_the_pass_around_it():
    reading = read(step(1.0, 1.0, [row(0)], device=0.25), now=2.0)
    assert reading.computing.now == pytest.approx(0.25 / 2)
    assert reading.engine_busy.now == pytest.approx(0.5)


def test_energy_is_what_the_counter_went_up_by_output_token():
    def gauges(at, joules):
        return Gauges(at, "GPU", 0.5, 1, 2, 300.0, energy_j=joules)

    reading = read(
        gauges(0.1, 5000.0),
        step(0.4, 0.1, [sampled(0), sampled(1)]),
        gauges(0.9, 5030.0),
        step(1.4, 0.1, [sampled(0), row(1, Work.PREFILL, 8)]),
        gauges(1.6, 5060.0),
        now=2.0,
    )
    assert reading.energy.now == pytest.approx((30 + 30) / 3)


def test_energy_is_not_known_without_a_counter():
    gauges = Gauges(0.1, "GPU", 0.5, 1, 2, 300.0)
    assert read(gauges, step(0.4, 0.1, [sampled(0)]), now=2.0).energy.now is None


def test_what_a_hopper_counts_itself_is_shown():
    gpu = GpuGauges(None, 1485, 1980, sm_busy=0.9, sm_occupancy=0.3, tensor_busy=0.1, dram_busy=0.7)
    cpu = CpuGauges(1.0, 1 << 30, per_core=(1.0, 0.0, 0.25, 0.75))
    reading = read(Gauges(1.9, "GPU", 1.0, 1, 2, gpu=gpu, cpu=cpu), now=2.0)
    assert reading.clock.now == 0.75
    assert (reading.sm_busy.now, reading.sm_occupancy.now) == (0.9, 0.3)
    assert (reading.tensor_busy.now, reading.dram_busy.now) == (0.1, 0.7)
    assert reading.machine_busy.now == 0.5


GAUGED = [(0.1, 0.0), (0.3, 0.5), (0.6, 0.75), (1.1, None), (1.6, 1.0)]


def test_passes_that_were_graphs_are_counted_and_the_last_one_says_what_it_was():
    modes = ["eager: prefill", "graph 1", "graph 2", "graph 2"]
    steps = [
        replace(step(1.0 + at / 10, 0.1, [row(0)]), mode=mode) for at, mode in enumerate(modes)
    ]
    reading = read(*steps, now=2.0)
    assert (reading.graphed.now, reading.mode) == (0.75, "graph 2")


def test_memory_is_bounded():
    log = EventLog()
    log.append(Configured(0.0, EngineSettings()))
    for number in range(1000):
        log.append(step(number * 1.0, 0.2, [row(0)]))
    use = Utilisation(log)
    use.note(INFO)
    reading = use.poll(1000.0)
    assert len(reading.engine_busy.trend) == NUM_BUCKETS
    assert reading.engine_busy.trend[-1] == 0.0


def test_passes_before_the_settings_are_known_are_left_out():
    log = EventLog()
    log.append(step(0.5, 0.25, [row(0)]))
    reading = Utilisation(log).poll(1.0)
    assert reading.slots_busy.now is None
