"""Every family can be recorded with all of our Triton kernels, and each launch stays the same."""

from __future__ import annotations

from typing import Any

import pytest

from engine.events import Step
from engine.request import Request, SamplingParams
from tests.builders import events_of
from tests.runners.builders import make_model_core, make_prompt, serve
from tests.runners.fake_capture import FakeCapture
from tests.runners.families import SERVED, make_family
from tests.runners.traffic import HostSide

pytest.importorskip("triton", reason="triton is not installed")
from engine.runners.layers.fuse import DeviceKit, fuse
from engine.runners.triton import fused_ops

REQUESTS = [Request("r", make_prompt(9), SamplingParams(max_tokens=3))]
NUM_LAYERS = 2  # of four, so that of each kind there is one


def cut(shape: dict[str, Any]) -> dict[str, Any]:
    """The last layers alone, since interpreted kernels take long."""
    lists = {key: value[-NUM_LAYERS:] for key, value in shape.items() if isinstance(value, list)}
    dense = {"first_k_dense_replace": 1} if "first_k_dense_replace" in shape else {}
    count = "n_layer" if "n_layer" in shape else "num_hidden_layers"
    return shape | lists | dense | {count: NUM_LAYERS}


@pytest.mark.slow
@pytest.mark.parametrize("family", SERVED)
def test_every_family_gives_the_same_tokens_by_the_same_launches(family, monkeypatch):
    model_type, shape = SERVED[family][0], cut(SERVED[family][1])
    expected = serve(make_model_core(make_family(model_type, shape)), REQUESTS)
    model, capture = make_family(model_type, shape), FakeCapture(HostSide(monkeypatch))
    fuse(model, DeviceKit(fused_ops))

    core = make_model_core(model, capture, "triton")

    assert serve(core, REQUESTS) == expected
    modes = [step.mode for step in events_of(core.log, Step) if step.rows]
    assert modes == ["eager: prefill", "graph 1, recorded now", "graph 1"]
    assert capture.num_replays == 2
    assert capture.num_launches >= 2 * NUM_LAYERS  # to write and to attend
