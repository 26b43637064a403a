"""The rows of the panel of use: each a number, what it means, and when it misleads."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import EngineInfo, Gauges, GpuGauges
from tuiapp.keys import Keys
from tuiapp.view.device import name_device
from tuiapp.view.utilisation import Reading, Use


@dataclass(frozen=True, slots=True)
class UseRow:
    """One measure.

    Attributes:
        value: as people read it; empty for the share that `use` says.
        means: what it says.
        lies: when it misleads.
        problem: why there is no number; empty where there is one.
    """

    name: str
    use: Use
    means: str
    lies: str
    value: str = ""
    problem: str = ""


def use_rows(reading: Reading, info: EngineInfo, keys: Keys) -> list[UseRow]:
    """All measures that there can be on such a device, the least telling first.

    Args:
        keys: to name the one that tells more.
    """
    gauges = reading.gauges
    is_gpu = gauges.name == "GPU" if gauges else bool(info.device_uuid)
    own = [_nvml_busy(reading)] if is_gpu else [_cpu_busy(reading)]
    gpm = _gpm_rows(reading) if is_gpu else [_no_bandwidth(reading)]
    clock = [_clock(reading)] if is_gpu else []
    return [
        *own,
        _computing(reading, info),
        *_graphs(reading, info),
        *_engine_rows(reading, keys),
        *_peak_rows(reading, info),
        *gpm,
        _power(reading, "GPU" if is_gpu else "CPU"),
        _energy(reading, "GPU" if is_gpu else "CPU"),
        *clock,
        _memory(reading, is_gpu=is_gpu),
        _machine(reading),
    ]


def _nvml_busy(reading: Reading) -> UseRow:
    return UseRow(
        "GPU busy",
        reading.device_busy,
        "the driver's number: the share of a recent fraction of a second in which any kernel ran",
        "one small kernel after another reads 100 %; it never says how full the device was",
        problem="" if _is_known(reading.device_busy) else "n/a: the driver does not say, as in MIG",
    )


def _cpu_busy(reading: Reading) -> UseRow:
    return UseRow(
        "CPU busy",
        reading.device_busy,
        "this process's share of all cores, since the last reading",
        "a core that waits for memory counts as busy, and so does drawing this screen",
    )


def _computing(reading: Reading, info: EngineInfo) -> UseRow:
    if info.is_simulated:
        means = "the share of the time that passes take by the cost model: simulated"
    elif info.device_uuid:
        means = "CUDA events around each pass: the share of the time in which its kernels ran"
    else:
        means = "the share of the time in the model's forward pass and in sampling"
    return UseRow(
        "computing",
        reading.computing,
        means,
        "a kernel that fills a tenth of the device counts in full, and so do gaps within a pass",
    )


def _graphs(reading: Reading, info: EngineInfo) -> list[UseRow]:
    """How passes are launched, on a device that has a choice."""
    if not info.graphs:
        return []
    last = f"; the last one: {reading.mode}" if reading.mode else ""
    return [
        UseRow(
            "CUDA graphs",
            reading.graphed,
            f"the share of passes replayed as a graph{last}",
            "passes with prompt tokens in them never are, so that it says what the traffic is too",
            problem=f"n/a: {info.graphs}" if info.graphs.startswith("off") else "",
        )
    ]


def _engine_rows(reading: Reading, keys: Keys) -> list[UseRow]:
    return [
        UseRow(
            "engine busy",
            reading.engine_busy,
            "the share of the time in which a pass ran, with all that the host does for it",
            "a pass over padding is a pass too; what is above computing is the host: "
            f"press {keys['profile']}",
        ),
        UseRow(
            "slots busy",
            reading.slots_busy,
            "slots whose sequence had tokens to make, while passes ran",
            "the number of slots is a setting: halve it and this doubles, with nothing gained",
        ),
        UseRow(
            "useful tokens",
            reading.useful,
            "token positions computed for the first time: no padding, no dead row, nothing again",
            "it says nothing of speed: a slow pass of useful tokens alone reads 100 %",
        ),
    ]


def _peak_rows(reading: Reading, info: EngineInfo) -> list[UseRow]:
    peaks = reading.peaks
    problem = "" if peaks else f"n/a: no peaks known of {name_device(info)}"
    bandwidth = f" ({_big(peaks.bandwidth)}B/s, {peaks.source})" if peaks else ""
    flops = f" ({_big(peaks.flops)}FLOP/s, {peaks.source})" if peaks else ""
    is_measured = peaks is not None and peaks.source != "data sheet"
    return [
        UseRow(
            "MBU",
            reading.mbu,
            f"bytes of weights and KV cache that passes had to read, of the peak{bandwidth}",
            "a model that a CPU's cache holds is read faster than memory: above 100 %"
            if is_measured
            else "passes full of prompt tokens are bound by arithmetic, and read low without fault",
            problem=problem,
        ),
        UseRow(
            "MFU",
            reading.mfu,
            f"2 × parameters × tokens, of the peak{flops}",
            "decoding is bound by memory: a few per cent are its nature; attention is left out",
            problem=problem,
        ),
    ]


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
    if any(_is_known(row.use) for row in rows):
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
        problem="" if _is_known(reading.power) else f"n/a: {name} does not say",
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


_CLOCK_MEANS = "of the highest that it can be"
_CLOCK_LIES = "an idle device clocks down, and nothing is wrong; a slow one under load is too hot"


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
        problem="" if _is_known(reading.machine_busy) else "n/a: not read",
    )


def _gpu(reading: Reading) -> GpuGauges | None:
    return reading.gauges.gpu if reading.gauges else None


def _is_known(use: Use) -> bool:
    """Whether there was a number in sight at all; before the first one, the row just waits."""
    return any(value is not None for value in use.trend)


def _gibibytes(gauges: Gauges | None) -> str:
    if gauges is None:
        return "—"
    return f"{gauges.memory_used / 2**30:.1f} / {gauges.memory_total / 2**30:.0f} GiB"


def _big(number: float) -> str:
    """To three digits, with the prefix of its thousands."""
    for prefix, size in (("P", 1e15), ("T", 1e12), ("G", 1e9)):
        if number >= size:
            return f"{number / size:.3g} {prefix}"
    return f"{number / 1e6:.3g} M"
