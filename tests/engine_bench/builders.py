"""A benchmark so small that it is over in seconds."""

from __future__ import annotations

from engine.assembly import build_core
from engine.bench.traffic import Traffic
from engine.clock import WallClock
from engine.core import EngineCore
from engine.log import EventLog
from engine.runners.parts import ModelSpec
from tuiapp.bench.request import Effort

DUMMY = ModelSpec("tiny", device="cpu", load_format="dummy")
TRAFFIC = Traffic(num_requests=3, num_slots=2, prompt_tokens=(4, 12), output_tokens=(2, 5))
TINY = Effort(
    traffic=TRAFFIC,
    num_rounds=1,
    batch_sizes=(1, 2),
    num_context=8,
    num_passes=3,
    sizes=(2, 4),
    num_steps=5,
    num_screens=0,
)


def make_dummy_core() -> EngineCore:
    return build_core(DUMMY, TRAFFIC.settings(), WallClock(), EventLog())


def num_output(requests) -> int:
    return sum(request.sampling.max_tokens for request in requests)
