"""`EngineInfo`: what runs, as every event and report may need it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.settings import EngineSettings, KvPolicy


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What runs, for the screen and for reports.

    Attributes:
        attention: the way attention is computed, such as `grouped gather + sdpa`.
        num_params: weights, shared ones counted once.
        num_kv_blocks, block_size: the cache that the device's memory was set aside for.
        quantization: in how many bits the weights are held, as `int8`; empty for those of `dtype`.
        compilation: how the model was compiled; empty where it was not.
        graphs: whether decoding passes are replayed as CUDA graphs, and why not; empty where the
            device has none.
        is_simulated: times come from a cost model; where no model runs, text is filler.
        device_uuid: of a CUDA device, by which its driver's gauges are found.
        peak_bandwidth, peak_flops: what the device was measured to do at best when it started:
            bytes a second to and from memory, operations a second; 0 where that is not known. Of
            several devices that share a model, all together.
        num_lookup_params: of the weights, those of an embedding that is not the head too: a pass
            reads a row of it a token, and multiplies with none.
    """

    model: str
    device: str
    dtype: str
    attention: str
    num_params: int
    max_model_len: int
    num_kv_blocks: int
    block_size: int
    kv_bytes_per_token: int = 0
    num_threads: int = 1
    device_uuid: str = ""
    is_simulated: bool = False
    graphs: str = ""
    quantization: str = ""
    compilation: str = ""
    peak_bandwidth: float = 0.0
    peak_flops: float = 0.0
    num_lookup_params: int = 0

    @property
    def num_params_read(self) -> int:
        """Weights that a pass reads whole, and multiplies each of its tokens with."""
        return self.num_params - self.num_lookup_params

    @property
    def precision(self) -> str:
        """What passes compute in, and weights are held in where they have fewer bits."""
        return f"{self.quantization} {self.dtype}".strip()

    def longest(self, settings: EngineSettings) -> int:
        """Prompt and output together at most under these settings, in tokens."""
        return min(settings.max_model_len or self.max_model_len, self.max_model_len)

    def num_blocks(self, settings: EngineSettings) -> int:
        """KV blocks under these settings; the device's memory does not grow with their size."""
        num_tokens = self.num_kv_blocks * self.block_size
        return settings.num_kv_blocks or max(1, num_tokens // settings.block_size)

    def reserve_tokens(self, settings: EngineSettings) -> int:
        """Tokens of KV memory that every sequence takes at once; 0 where it grows by blocks."""
        if settings.kv_policy is KvPolicy.PAGED:
            return 0
        return settings.reserve_tokens or self.longest(settings)

    def is_async(self, settings: EngineSettings) -> bool:
        """Whether passes are planned ahead under these settings."""
        if settings.async_scheduling is None:
            return bool(self.device_uuid)  # a CUDA device, which works while the host plans
        return settings.async_scheduling
