"""Cost models: how long a forward pass takes on hardware that is not here.

`Roofline` takes the slower of a pass's arithmetic and its memory traffic, plus a fixed
overhead (Williams et al. 2009; the operation counts are those of Kaplan et al. 2020, section
2.1, with attention over the cached context added). `Linear` is a straight line per kind of
token, whose round figures make presets easy to check by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from engine.plan import Plan


class CostModel(Protocol):
    """Says how long a plan would take."""

    def seconds(self, plan: Plan) -> float: ...


@dataclass(frozen=True, slots=True)
class Linear:
    """So much a pass, a prefill token, a sequence and a token of context.

    Attributes:
        pass_ms, prefill_token_ms, sequence_ms, context_token_ms: in milliseconds.
    """

    pass_ms: float = 12.0
    prefill_token_ms: float = 0.02
    sequence_ms: float = 0.03
    context_token_ms: float = 2e-5

    def seconds(self, plan: Plan) -> float:
        prefills = [row for row in plan.rows if row.num_tokens and not row.seq.is_decoding]
        if plan.rectangular and prefills:
            num_prefill = plan.num_slots
        else:
            num_prefill = sum(row.num_tokens for row in prefills)
        context = sum(row.seq.num_computed + row.num_tokens for row in plan.rows)
        milliseconds = (
            self.pass_ms
            + self.prefill_token_ms * num_prefill
            + self.sequence_ms * len(plan.rows)
            + self.context_token_ms * context
        )
        return milliseconds / 1000


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The dimensions that decide cost.

    Attributes:
        num_params: weights that a token is multiplied with.
    """

    name: str = "Qwen3-8B"
    num_params: float = 8.2e9
    num_layers: int = 36
    num_kv_heads: int = 8
    num_heads: int = 32
    head_dim: int = 128
    bytes_per_value: int = 2

    @property
    def kv_bytes_per_token(self) -> int:
        return 2 * self.num_layers * self.num_kv_heads * self.head_dim * self.bytes_per_value


@dataclass(frozen=True, slots=True)
class Device:
    """What the hardware can do.

    Attributes:
        flops: floating point operations a second, achieved.
        bandwidth: bytes a second to and from device memory, achieved.
        overhead: seconds a pass for launches and the host.
    """

    name: str = "H100"
    flops: float = 0.6 * 989e12
    bandwidth: float = 0.6 * 3.35e12
    overhead: float = 0.002


@dataclass(frozen=True, slots=True)
class Roofline:
    """Never less than the time to read the weights once."""

    model: ModelShape = ModelShape()
    device: Device = Device()

    def seconds(self, plan: Plan) -> float:
        model, device = self.model, self.device
        contexts = [row.seq.num_computed + row.num_tokens for row in plan.rows]
        queries = [plan.width if plan.rectangular else row.num_tokens for row in plan.rows]
        attended = sum(q * context for q, context in zip(queries, contexts, strict=True))
        linear = 2 * model.num_params * plan.num_slots
        attention = 4 * model.num_layers * model.num_heads * model.head_dim * attended
        cached = sum(contexts) * model.kv_bytes_per_token
        traffic = model.num_params * model.bytes_per_value + cached
        compute = (linear + attention) / device.flops
        return device.overhead + max(compute, traffic / device.bandwidth)
