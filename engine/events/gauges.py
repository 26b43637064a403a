"""What a device and its host report about themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuGauges:
    """What an NVIDIA device says beyond load and memory; None where it does not say.

    Attributes:
        memory_busy: share of a recent fraction of a second in which memory was read or written.
        slowed_by: why clocks are lower than they could be, in words.
        sm_busy: share of multiprocessors that ran something, as the hardware counts it.
        sm_occupancy: share of the warps that could be resident and were.
        tensor_busy: share of the time in which tensor cores worked.
        dram_busy: share of the memory's peak bandwidth that was used.
    """

    memory_busy: float | None = None
    sm_clock_mhz: int | None = None
    max_sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature_c: int | None = None
    power_limit_w: float | None = None
    slowed_by: tuple[str, ...] = ()
    sm_busy: float | None = None
    sm_occupancy: float | None = None
    tensor_busy: float | None = None
    dram_busy: float | None = None


@dataclass(frozen=True, slots=True)
class CpuGauges:
    """What the host had to do since the reading before.

    Attributes:
        cores_used: by this process; 1 is one core all the time.
        resident: memory of this process, in bytes.
        per_core: share of the time in which each core worked, for whomever.
        load: processes that ran or wanted to, on average over the last minute.
    """

    cores_used: float
    resident: int
    per_core: tuple[float, ...] = ()
    load: float = 0.0


@dataclass(frozen=True, slots=True)
class Gauges:
    """What a device reported about itself.

    Attributes:
        name: such as `GPU` or `CPU`: what the share is a share of.
        utilisation: 0 to 1; None where it is not known.
        memory_used, memory_total: in bytes; 0 where they are not known.
        power_w: in watts; None where it is not known.
        energy_j: joules since some moment before the run, so that differences count; None where
            it is not known.
        gpu: None for another device.
        cpu: of the host.
        problem: why the device says nothing of itself; empty where it does.
    """

    time: float
    name: str
    utilisation: float | None
    memory_used: int
    memory_total: int
    power_w: float | None = None
    energy_j: float | None = None
    gpu: GpuGauges | None = None
    cpu: CpuGauges | None = None
    problem: str = ""
