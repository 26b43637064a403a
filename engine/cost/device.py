"""`Device`: what a piece of hardware can do, and what of it a running engine achieves.

These dataclasses are the schema of a device file. Peaks come from data sheets; what is achieved
of them is an assumption until `batchscope calibrate` has measured it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.checks import require, require_natural, require_positive

DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Achieved:
    """Shares of the peaks, and what a pass costs beside arithmetic and traffic.

    Attributes:
        linear_flops: of the arithmetic, in layers and head; 0 to 1, as all shares.
        attention_flops: of the arithmetic, in attention.
        weight_bandwidth: of the memory bandwidth, when weights are read.
        kv_bandwidth: of the memory bandwidth, when the KV cache is read.
        memory: of the memory, for weights and KV cache: vLLM's `gpu_memory_utilization`.
        pass_ms: milliseconds a pass, for launches and the host.
        sequence_ms: milliseconds a sequence in the pass, for scheduling and sampling.
    """

    linear_flops: float = 0.6
    attention_flops: float = 0.3
    weight_bandwidth: float = 0.7
    kv_bandwidth: float = 0.7
    memory: float = 0.9
    pass_ms: float = 2.0
    sequence_ms: float = 0.005

    def __post_init__(self) -> None:
        shares = ("linear_flops", "attention_flops", "weight_bandwidth", "kv_bandwidth", "memory")
        for name in shares:
            share = getattr(self, name)
            require(0 < share <= 1, f"{name} must be above 0 and at most 1, got {share}")
        require_natural(pass_ms=self.pass_ms, sequence_ms=self.sequence_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What joins devices that share a model.

    Attributes:
        bandwidth_gb_s: 10^9 bytes a second that one device sends.
        latency_us: microseconds that an all-reduce takes whatever its size.
    """

    bandwidth_gb_s: float
    latency_us: float = 10.0

    def __post_init__(self) -> None:
        require_positive(bandwidth_gb_s=self.bandwidth_gb_s)
        require_natural(latency_us=self.latency_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device; all peaks are those of dense arithmetic.

    Attributes:
        memory_gb: 10^9 bytes.
        bandwidth_gb_s: 10^9 bytes a second to and from that memory.
        tflops: 10^12 operations a second by dtype; the first is what `auto` chooses.
        link: to its neighbours; without one, a model is not shared among devices.
        sources: where each figure is from, by its key.
    """

    name: str
    memory_gb: float
    bandwidth_gb_s: float
    tflops: Mapping[str, float]
    achieved: Achieved = Achieved()
    link: Link | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_positive(memory_gb=self.memory_gb, bandwidth_gb_s=self.bandwidth_gb_s)
        require(bool(self.tflops), "tflops must name at least one dtype")
        for dtype, tflops in self.tflops.items():
            known = ", ".join(DTYPE_BYTES)
            require(dtype in DTYPE_BYTES, f"tflops must be by {known}, got {dtype!r}")
            is_right = _is_positive(tflops)
            require(is_right, f"tflops must be numbers above 0, got {tflops!r} for {dtype}")
        for key, source in self.sources.items():
            require(isinstance(source, str), f"sources must be text, got {source!r} for {key}")

    @property
    def usable_memory(self) -> int:
        """Bytes for weights and KV cache."""
        return int(self.memory_gb * 1e9 * self.achieved.memory)


def _is_positive(value: object) -> bool:
    """Whether it is a number above 0, whatever a file may hold."""
    return isinstance(value, int | float) and value > 0
