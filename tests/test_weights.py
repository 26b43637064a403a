"""What a pass reads of the weights, of models with one embedding and with two."""

from __future__ import annotations

from dataclasses import replace

from engine.assembly import ModelSpec, build_core
from engine.clock import VirtualClock
from engine.cost.weights import weight_bytes
from engine.events import EngineInfo
from engine.log import EventLog
from engine.settings import EngineSettings

TIED = EngineInfo("m", "cpu", "bfloat16", "a", 1000, 4096, 256, 16)


def test_an_embedding_that_is_no_head_is_not_read_as_a_whole():
    assert weight_bytes(TIED) == 2000
    assert weight_bytes(replace(TIED, num_lookup_params=300)) == 1400
    assert weight_bytes(replace(TIED, quantization="int8")) == 1000
    assert weight_bytes(replace(TIED, dtype="-")) == 0


def test_a_simulated_model_has_the_embedding_of_its_shape():
    spec = ModelSpec("llama-3.1-8b", device="sim:h100")
    info = build_core(spec, EngineSettings(), VirtualClock(), EventLog()).info
    assert (info.num_params, info.num_lookup_params) == (8_030_261_248, 128_256 * 4096)
