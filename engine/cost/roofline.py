"""`Roofline`: the time of a pass from what the hardware can do.

The layers take the slower of their arithmetic and of reading their weights, which all rows share
(Williams et al. 2009). Attention takes the time of its arithmetic, which the chunks of prompts
make up, and that of reading the cached context, which the decoding rows do: other rows, so the
times add up. The operation counts are those of Kaplan et al. 2020, section 2.1, with attention
over the cached context added. Devices that share a model split every layer (Shoeybi et al. 2019,
Megatron-LM) and add up their results twice a layer, around a ring.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.checks import require
from engine.cost.device import DTYPE_BYTES, Device
from engine.cost.load import Load
from engine.cost.model_shape import ModelShape
from engine.plan import Plan


@dataclass(frozen=True, slots=True)
class Roofline:
    """A model on a device, or on several that split it.

    Attributes:
        dtype: of weights and KV cache.
        tensor_parallel_size: devices that share the model; has to divide its KV heads.
    """

    model: ModelShape
    device: Device
    dtype: str
    tensor_parallel_size: int = 1

    def __post_init__(self) -> None:
        size, num_heads = self.tensor_parallel_size, self.model.num_key_value_heads
        require(self.dtype in self.device.tflops, f"dtype {self.dtype!r} has no peak")
        require(size >= 1 and num_heads % size == 0, f"{size} devices cannot share {num_heads}")
        require(size == 1 or self.device.link is not None, f"{self.device.name} has no link")

    def seconds(self, plan: Plan) -> float:
        return self.seconds_of(Load.of(plan))

    def seconds_of(self, load: Load) -> float:
        """How long a pass with that load takes."""
        achieved = self.device.achieved
        overhead = (achieved.pass_ms + achieved.sequence_ms * load.num_rows) / 1000
        return overhead + self._layers(load) + self._attention(load) + self._exchange(load)

    @property
    def weight_bytes(self) -> int:
        """What the weights take, on all devices together."""
        return self.model.num_params * DTYPE_BYTES[self.dtype]

    @property
    def kv_bytes_per_token(self) -> int:
        """What one token takes in the cache, on all devices together."""
        return self.model.kv_values_per_token * DTYPE_BYTES[self.dtype]

    def _layers(self, load: Load) -> float:
        achieved = self.device.achieved
        return max(
            self.model.layer_operations(load) / (self._flops * achieved.linear_flops),
            self.model.weights_read(load)
            * DTYPE_BYTES[self.dtype]
            / (self._bandwidth * achieved.weight_bandwidth),
        )

    def _attention(self, load: Load) -> float:
        achieved = self.device.achieved
        operations = self.model.attention_operations(load)
        traffic = self.kv_bytes_per_token * load.num_cached
        return operations / (self._flops * achieved.attention_flops) + traffic / (
            self._bandwidth * achieved.kv_bandwidth
        )

    def _exchange(self, load: Load) -> float:
        """All-reduces around a ring: each device sends nearly all of the activations twice."""
        link, size = self.device.link, self.tensor_parallel_size
        if size == 1 or link is None:
            return 0.0
        activations = load.num_positions * self.model.hidden_size * DTYPE_BYTES[self.dtype]
        sent = 2 * (size - 1) / size * activations
        each = link.latency_us * 1e-6 + sent / (link.bandwidth_gb_s * 1e9)
        return 2 * self.model.num_hidden_layers * each

    @property
    def _flops(self) -> float:
        return self.device.tflops[self.dtype] * 1e12 * self.tensor_parallel_size

    @property
    def _bandwidth(self) -> float:
        return self.device.bandwidth_gb_s * 1e9 * self.tensor_parallel_size
