"""What the device, its driver and its host tell of their use."""

from __future__ import annotations

from dataclasses import replace

from engine.events import Gauges, GpuGauges
from tuiapp.view.use_row import UseRow, is_known
from tuiapp.view.utilisation import Reading

_CLOCK_MEANS = "of the highest that it can be"
_CLOCK_LIES = "an idle device clocks down, and nothing is wrong; a slow one under load is too hot"


def busy_row(reading: Reading, *, is_gpu: bool) -> UseRow:
    """The number that everybody knows, and that tells least."""
    return _nvml_busy(reading) if is_gpu else _cpu_busy(reading)


def device_rows(reading: Reading, *, is_gpu: bool) -> list[UseRow]:
    """All else that such a device tells of itself, and what its machine does."""
    name = "GPU" if is_gpu else "CPU"
    rows = [
        *(_gpm_rows(reading) if is_gpu else [_no_bandwidth(reading)]),
        _power(reading, name),
        _energy(reading, name),
        *([_clock(reading)] if is_gpu else []),
        _memory(reading, is_gpu=is_gpu),
    ]
    if reading.gauges and reading.gauges.problem:
        rows = [replace(row, problem="n/a") for row in rows]  # the first row says why
    return [*rows, _machine(reading)]


def _nvml_busy(reading: Reading) -> UseRow:
    silent = reading.gauges.problem if reading.gauges else ""
    reason = silent or "the driver does not say, as in MIG"
    return UseRow(
        "GPU busy",
        reading.device_busy,
        "the driver's number: the share of a recent fraction of a second in which any kernel ran",
        "one small kernel after another reads 100 %; it never says how full the device was",
        problem="" if is_known(reading.device_busy) else f"n/a: {reason}",
    )


def _cpu_busy(reading: Reading) -> UseRow:
    return UseRow(
        "CPU busy",
        reading.device_busy,
        "this process's share of all cores, since the last reading",
        "a core that waits for memory counts as busy, and so does drawing this screen",
    )


def _gpm_rows(reading: Reading) -> list[UseRow]:
    """What the hardware counts itself, on Hopper and later."""
    rows = [
        UseRow(
            "SM busy",
            reading.sm_busy,
            "GPM: the share of multiprocessors that had work, as the hardware counts it",
            "one warp makes a multiprocessor busy, though it could hold 64",
        ),
        UseRow(
            "SM occupancy",
            reading.sm_occupancy,
            "GPM: warps resident on multiprocessors, of those that could be",
            "good kernels reach the peak of memory at a quarter of it: low is no fault by itself",
        ),
        UseRow(
            "tensor busy",
            reading.tensor_busy,
            "GPM: the share of the time in which tensor cores worked",
            "decoding needs them little; a full pipe of padding is full too",
        ),
        UseRow(
            "DRAM busy",
            reading.dram_busy,
            "GPM: bytes to and from the device's memory, of its peak; MBU should come near it",
            "above MBU it is bytes read twice or written: activations, padding, a cold cache",
        ),
    ]
    if any(is_known(row.use) for row in rows):
        return rows
    reason = "n/a: the driver offers no GPM, which needs Hopper or later, and no MIG"
    return [UseRow("SM, DRAM busy", reading.sm_busy, rows[0].means, rows[0].lies, problem=reason)]


def _no_bandwidth(reading: Reading) -> UseRow:
    return UseRow(
        "memory traffic",
        reading.dram_busy,
        "bytes to and from memory, as the memory's controllers count them",
        "MBU is the engine's own sum in its place; it leaves out activations and other programs",
        problem="n/a: a CPU tells its administrator alone",
    )


def _power(reading: Reading, name: str) -> UseRow:
    gpu = _gpu(reading)
    limit = f" of {gpu.power_limit_w:.0f}" if gpu and gpu.power_limit_w else ""
    now = reading.power.now
    return UseRow(
        "power",
        reading.power,
        "what the device draws at the moment",
        "a device that waits for memory draws less, though it cannot do more",
        value="—" if now is None else f"{now:.0f}{limit} W",
        problem="" if is_known(reading.power) else f"n/a: {name} does not say",
    )


def _energy(reading: Reading, name: str) -> UseRow:
    now = reading.energy.now
    has_counter = reading.gauges is not None and reading.gauges.energy_j is not None
    return UseRow(
        "energy a token",
        reading.energy,
        "the device's own counter of joules, by output token",
        "prompts cost too, and are in it; the host and the cooling are not",
        value="—" if now is None else f"{now:.3g} J",
        problem="" if has_counter else f"n/a: {name} counts no joules",
    )


def _clock(reading: Reading) -> UseRow:
    gpu = _gpu(reading)
    if gpu is None or gpu.sm_clock_mhz is None:
        return UseRow("SM clock", reading.clock, _CLOCK_MEANS, _CLOCK_LIES, problem="n/a")
    heat = f", {gpu.temperature_c} °C" if gpu.temperature_c is not None else ""
    memory = f", memory {gpu.memory_clock_mhz} MHz" if gpu.memory_clock_mhz is not None else ""
    slowed = f"slowed by {', '.join(gpu.slowed_by)}" if gpu.slowed_by else "not slowed"
    return UseRow(
        "SM clock",
        reading.clock,
        f"{_CLOCK_MEANS}: {slowed}{memory}{heat}",
        _CLOCK_LIES,
        value=f"{gpu.sm_clock_mhz} MHz",
    )


def _memory(reading: Reading, *, is_gpu: bool) -> UseRow:
    if is_gpu:
        name, means = "GPU memory", "memory in use on the device, whoever uses it"
        lies = "the KV cache is taken in advance: full memory is no full cache"
    else:
        name, means = "CPU memory", "memory of this process, of all in the machine"
        lies = "the KV cache is taken in advance, and counts from its first use on"
    return UseRow(name, reading.memory, means, lies, value=_gibibytes(reading.gauges))


def _machine(reading: Reading) -> UseRow:
    cpu = reading.gauges.cpu if reading.gauges else None
    known = f"{cpu.cores_used:.1f} cores are this process; load {cpu.load:.1f}" if cpu else ""
    cores = f" of {len(cpu.per_core)} cores" if cpu else " of all cores"
    return UseRow(
        "machine busy",
        reading.machine_busy,
        f"the share{cores} in use, by anybody{': ' if known else ''}{known}",
        "one core at 100 % can be the whole trouble, and hardly shows in a mean of many",
        problem="" if is_known(reading.machine_busy) else "n/a: not read",
    )


def _gpu(reading: Reading) -> GpuGauges | None:
    return reading.gauges.gpu if reading.gauges else None


def _gibibytes(gauges: Gauges | None) -> str:
    if gauges is None:
        return "—"
    return f"{gauges.memory_used / 2**30:.1f} / {gauges.memory_total / 2**30:.0f} GiB"
