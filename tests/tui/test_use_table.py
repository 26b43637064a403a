"""What the panel of use says of a GPU, of a slice of one, and of a CPU."""

from __future__ import annotations

from dataclasses import replace

from engine.events import CpuGauges, EngineInfo, Gauges, GpuGauges, Ready
from engine.log import EventLog
from tuiapp.screens.live_keys import USUAL_KEYS
from tuiapp.view.use_table import use_rows
from tuiapp.view.utilisation import Utilisation

GPU = EngineInfo("m", "NVIDIA H200", "bfloat16", "a", 1_000_000_000, 4096, 256, 16, device_uuid="u")
CPU = EngineInfo("m", "cpu", "float32", "a", 1_000_000, 4096, 256, 16)
HOPPER = GpuGauges(
    memory_busy=0.5,
    sm_clock_mhz=1410,
    max_sm_clock_mhz=1980,
    memory_clock_mhz=3201,
    temperature_c=61,
    power_limit_w=700.0,
    slowed_by=("software power cap",),
    sm_busy=0.9,
    sm_occupancy=0.3,
    tensor_busy=0.1,
    dram_busy=0.7,
)
HOST = CpuGauges(cores_used=1.25, resident=1 << 30, per_core=(0.5, 0.25), load=2.5)


def rows_of(info, gauges):
    log = EventLog()
    log.append(Ready(0.0, info))
    log.append(gauges)
    return {row.name: row for row in use_rows(Utilisation(log).poll(2.0), info, USUAL_KEYS)}


def on_gpu(gpu, **changes):
    gauges = Gauges(1.9, "GPU", 0.97, 20 << 30, 141 << 30, 412.0, 1000.0, gpu, HOST)
    return rows_of(GPU, replace(gauges, **changes))


def test_a_hopper_has_a_number_for_everything():
    rows = on_gpu(HOPPER)
    assert list(rows) == [
        "GPU busy",
        "computing",
        "engine busy",
        "slots busy",
        "useful tokens",
        "MBU",
        "MFU",
        "SM busy",
        "SM occupancy",
        "tensor busy",
        "DRAM busy",
        "power",
        "energy a token",
        "SM clock",
        "GPU memory",
        "machine busy",
    ]
    assert [row.name for row in rows.values() if row.problem] == []
    assert rows["power"].value == "412 of 700 W"
    assert rows["GPU memory"].value == "20.0 / 141 GiB"
    assert rows["SM clock"].value == "1410 MHz"
    assert rows["SM clock"].means.endswith("slowed by software power cap, memory 3201 MHz, 61 °C")
    assert "4.8 TB/s, data sheet" in rows["MBU"].means
    assert "990 TFLOP/s, data sheet" in rows["MFU"].means
    assert "of 2 cores in use, by anybody: 1.2 cores are this process; load 2.5" in (
        rows["machine busy"].means
    )


def test_what_a_slice_of_a_device_does_not_say_is_said_to_be_missing():
    rows = on_gpu(GpuGauges(), utilisation=None, power_w=None, energy_j=None)
    problems = {row.name: row.problem for row in rows.values() if row.problem}
    assert problems == {
        "GPU busy": "n/a: the driver does not say, as in MIG",
        "SM, DRAM busy": "n/a: the driver offers no GPM, which needs Hopper or later, and no MIG",
        "power": "n/a: GPU does not say",
        "energy a token": "n/a: GPU counts no joules",
        "SM clock": "n/a",
    }


def test_a_device_without_a_driver_says_why_and_is_not_passed_off_as_a_cpu():
    rows = rows_of(GPU, Gauges(1.9, "GPU", None, 0, 0, cpu=HOST, problem="no driver"))
    assert not [name for name in rows if name.startswith("CPU")]
    assert {row.name: row.problem for row in rows.values() if row.problem} == {
        "GPU busy": "n/a: no driver",
        "SM, DRAM busy": "n/a",
        "power": "n/a",
        "energy a token": "n/a",
        "SM clock": "n/a",
        "GPU memory": "n/a",
    }
    assert "1.2 cores are this process" in rows["machine busy"].means


def test_a_cpu_says_what_only_its_administrator_may_know():
    measured = replace(CPU, peak_bandwidth=19.3e9, peak_flops=87.3e9)
    rows = rows_of(measured, Gauges(1.9, "CPU", 0.5, 1 << 30, 8 << 30, cpu=HOST))
    problems = {row.name: row.problem for row in rows.values() if row.problem}
    assert problems == {
        "memory traffic": "n/a: a CPU tells its administrator alone",
        "power": "n/a: CPU does not say",
        "energy a token": "n/a: CPU counts no joules",
    }
    assert "19.3 GB/s, measured at start" in rows["MBU"].means
    assert "above 100 %" in rows["MBU"].lies


def test_a_simulated_device_is_said_to_be_one():
    rows = rows_of(replace(CPU, is_simulated=True), Gauges(1.9, "CPU", 0.5, 1, 2))
    assert "simulated" in rows["computing"].means
    assert rows["machine busy"].problem == "n/a: not read"


def test_graphs_are_told_of_where_there_are_some_or_why_not():
    gauges = Gauges(1.9, "GPU", 0.97, 20 << 30, 141 << 30)
    assert "CUDA graphs" not in rows_of(GPU, gauges)
    off = rows_of(replace(GPU, graphs="off: --enforce-eager"), gauges)["CUDA graphs"]
    assert off.problem == "n/a: off: --enforce-eager"
    on = rows_of(replace(GPU, graphs="decoding by up to 8 rows"), gauges)["CUDA graphs"]
    assert (on.problem, on.means) == ("", "the share of passes replayed as a graph")
